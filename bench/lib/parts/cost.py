"""What one accepted message asks of the services, from the counters of all processes.

Each step has more inboxes, and each message goes to one of them at random, by its address. Another has
inboxes that are full, so that an old message is removed for each new one. The last has a webhook that a
fiftieth of the messages concern, so that nearly every group of messages comes with a job; its
deliveries are counted too.
"""

import contextlib
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ..blast import blast, whole
from ..cluster import Cluster, Services
from ..groups.inboxes import create
from ..plan import Plan

CONNECTIONS = 64
HOOKED = 50
# Work that the 250 does not wait for: announcements, and the deliveries of the webhook.
SETTLE = 5
# One keeps all that it gets, the other is full soon.
ROOMY, SMALL = {"name": "Cost", "maxMessages": 10_000}, {"name": "Cost", "maxMessages": 100}
FEW = 10
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
        full = addresses_of(cluster, FEW, SMALL)
        send(cluster, full, FEW * SMALL["maxMessages"])
        steps.append(step(cluster, "full inboxes", full, messages))
        addresses: list[str] = []
        for count in (FEW, 1_000, plan.pick(100_000, 2_000)):
            addresses += addresses_of(cluster, count - len(addresses), ROOMY)
            steps.append(step(cluster, "inboxes", addresses, messages))
        with receiver() as url, contextlib.closing(cluster.http()) as http:
            hooked = cluster.inboxes(1)[0]
            http.json("POST", "/api/webhooks", {"url": url, "inboxId": hooked.id})
            what = f"inboxes, a webhook for each {HOOKED}th message"
            steps.append(step(cluster, what, addresses, messages, hooked.address))
    return {"messages": messages, "steps": steps}


def addresses_of(cluster: Cluster, count: int, inbox: dict) -> list[str]:
    """New inboxes like this one."""
    return [made["address"] for made in create(cluster, count, inbox)]


def step(
    cluster: Cluster, what: str, addresses: list[str], messages: int, hooked: str | None = None
) -> dict:
    before = cluster.operations()
    per_second = send(cluster, addresses, messages, hooked)
    time.sleep(SETTLE)
    spent = Counter(cluster.operations())
    spent.subtract(before)
    per_message = {
        cost: sum(spent[operation] for operation in operations) / messages
        for cost, operations in COSTS.items()
    }
    all_operations = {" ".join(operation): count for operation, count in spent.items() if count}
    return {
        "what": f"{len(addresses):,} {what}",
        "perMessage": per_message,
        "perSecond": per_second,
        "operations": all_operations,
    }


def send(cluster: Cluster, addresses: list[str], messages: int, hooked: str | None = None) -> float:
    """Sends them to random inboxes, and a part of them to one; how many were accepted a second."""
    edge = cluster.nodes("smtp")[0]
    chosen = random.choices(addresses, k=messages)
    if hooked:
        chosen[::HOOKED] = [hooked] * len(chosen[::HOOKED])
    file = edge.folder / "recipients"
    file.write_text("".join(f"{address}\n" for address in chosen))
    load = ["--connections", CONNECTIONS, "--messages", messages, "--to-file", file]
    return whole(blast(edge, *load), messages)["acceptedPerSecond"]


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
