"""What one accepted message asks of the services, from the counters of all processes.

Each step has more inboxes, and each message goes to one of them at random, by its address. The last
step has a webhook that a fiftieth of the messages concern, so that nearly every group of messages
comes with a job; its deliveries are counted too.
"""

import contextlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ..blast import blast, whole
from ..cluster import Cluster, Services
from ..plan import Plan
from ..rest import Failed, Http
from ..servers import Inbox

CONNECTIONS = 64
HOOKED = 50
# Work that the 250 does not wait for: announcements, and the deliveries of the webhook.
SETTLE = 5
# Keeps all that it gets, so that nothing is removed meanwhile.
NEW_INBOX = {"name": "Cost", "maxMessages": 10_000}
# What a message costs, as sums of operations of the services.
COSTS = {
    "puts": [("s3", "put")],
    "writes": [("cql", "write"), ("cql", "cas")],
    "reads": [("cql", "read")],
    "publishes": [("nats", "publish")],
    "redis": [("redis", name) for name in ("publish", "bump", "version", "get", "put", "forget", "limit")],
}


def measure(plan: Plan, services: Services) -> dict:
    messages = plan.pick(20_000, 1_000)
    steps = []
    with Cluster(services=services) as cluster:
        addresses: list[str] = []
        for count in (10, 1_000, plan.pick(100_000, 2_000)):
            addresses += create(cluster, count - len(addresses))
            steps.append(step(cluster, addresses, messages))
        with receiver() as url, contextlib.closing(cluster.http()) as http:
            hooked = cluster.inboxes(1)[0]
            http.json("POST", "/api/webhooks", webhook(url, hooked))
            steps.append(step(cluster, addresses, messages, hooked.address))
    return {"messages": messages, "steps": steps}


def create(cluster: Cluster, count: int) -> list[str]:
    """Addresses of new inboxes. Requests go out on all connections before an answer is read."""
    https = [cluster.http() for _ in range(min(count, CONNECTIONS))]
    made: list[str] = []
    while len(made) < count:
        batch = https[: count - len(made)]
        for http in batch:
            http.socket.sendall(http.bytes_of("POST", "/api/inboxes", NEW_INBOX))
        made += [address_of(http) for http in batch]
    for http in https:
        http.close()
    return made


def address_of(http: Http) -> str:
    answer = http.answer()
    if answer.status != 201:
        raise Failed(f"POST /api/inboxes: {answer.status} {answer.body[:200]!r}")
    return json.loads(answer.body)["address"]


def step(cluster: Cluster, addresses: list[str], messages: int, hooked: str | None = None) -> dict:
    edge = cluster.nodes("smtp")[0]
    chosen = random.choices(addresses, k=messages)
    if hooked:
        chosen[::HOOKED] = [hooked] * len(chosen[::HOOKED])
    file = edge.folder / "recipients"
    file.write_text("".join(f"{address}\n" for address in chosen))
    before = cluster.operations()
    load = ["--connections", CONNECTIONS, "--messages", messages, "--to-file", file]
    report = whole(blast(edge, *load), messages)
    time.sleep(SETTLE)
    spent = Counter(cluster.operations())
    spent.subtract(before)
    per_message = {
        cost: sum(spent[operation] for operation in operations) / messages
        for cost, operations in COSTS.items()
    }
    all_operations = {" ".join(operation): count for operation, count in spent.items() if count}
    return {
        "inboxes": len(addresses),
        "hooked": hooked is not None,
        "perMessage": per_message,
        "perSecond": report["acceptedPerSecond"],
        "operations": all_operations,
    }


def webhook(url: str, inbox: Inbox) -> dict:
    return {"url": url, "inboxId": inbox.id}


class Accept(BaseHTTPRequestHandler):
    """Takes every call."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextlib.contextmanager
def receiver() -> Iterator[str]:
    """Where the webhook leads."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Accept)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
