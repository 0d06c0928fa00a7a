#!/usr/bin/env python3
"""Measures what the mocks of other providers' APIs cost one process.

    bench/mocks.py target/dist/trapline
    bench/mocks.py target/dist/trapline --rivals 1

Prints calls a second over 64 connections to as many mocks of Stripe and the server's CPU for one of them: reading calls,
changing calls of which each has a webhook that is delivered, and batches of Segment; what one connection waits for a
changing call, and how long after its reply the endpoint has the webhook; what finding a mock by its credential adds;
and what mocks that nobody calls take. Everything is synced to disk. With `--rivals 1` creating and listing is measured
by turns with stripe-mock, which keeps nothing and sends nothing. hooksink is that of the `dist` profile.
"""

import base64
import collections
import json
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import closing
from urllib.parse import urlencode

from lib import build, machine, rivals
from lib.cost import spread
from lib.load import by_turns
from lib.many import connected
from lib.rest import Failed, Http
from lib.servers import Trapline
from lib.sink import Sink, quantiles
from lib.standalone import measurement

MOCKS = 64
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"
BATCH = 50
# Webhooks a second when one waits for each, and how many.
PACE, TIMED = 30, 300
TEAM = 1_000


class Mock:
    """A mock, and requests to it."""

    def __init__(self, made: dict) -> None:
        self.id, self.base = made["id"], f"/mock/{made['slug']}"
        credentials = made["credentials"]
        self.key = credentials.get("secretKey") or credentials["writeKey"]

    def get(self, http: Http, path: str, base: str | None = None) -> bytes:
        return http.bytes_of("GET", (self.base if base is None else base) + path)

    def post(self, http: Http, path: str, form: dict[str, str]) -> bytes:
        body = urlencode(form).encode()
        return http.bytes_of("POST", self.base + path, headers=f"{FORM}Content-Length: {len(body)}\r\n") + body


def main() -> int:
    with measurement(__doc__, rounds=3, seconds=10, mocks=10_000, rivals=0) as arguments:
        print(f"fdatasync of 4 KB: {machine.fdatasync_ms(build.WORK):.2f} ms", flush=True)
        found = collections.defaultdict(list)
        for _ in range(arguments.rounds):
            for what, value in round_of(arguments.seconds).items():
                found[what].append(value)
        for what, values in found.items():
            print(f"{what}: {spread(values)}", flush=True)
        idle(arguments.mocks)
        if arguments.rivals:
            beside_stripe_mock(arguments.rounds, arguments.seconds)
    return 0


def round_of(seconds: float) -> dict[str, float]:
    """The values of one server."""
    found: dict[str, float] = {}
    with Sink() as sink, Trapline() as server:
        mocks = [created(server, "stripe", sink.url(f"/200/{number}")) for number in range(MOCKS)]
        customers = [customer(server, mock) for mock in mocks]
        reads = lambda base: [
            (mock.key, lambda http, mock=mock, id=id: mock.get(http, f"/v1/customers/{id}", base))
            for mock, id in zip(mocks, customers)
        ]
        rate(server, "reading call", reads(None), seconds, found)
        rate(server, "reading call by its credential", reads(""), seconds, found)
        changes = [(mock.key, lambda http, mock=mock: changing(http, mock)) for mock in mocks]
        rate(server, "changing call", changes, seconds, found, deliveries(sink))
        one_at_a_time(server, sink, mocks[0], found)
        segment = [created(server, "segment") for _ in range(MOCKS)]
        rate(server, "batch of Segment", [(None, batches(mock)) for mock in segment], seconds, found)
        found["events of Segment a second"] = found.pop("batch of Segment, a second") * BATCH
    return found


def created(server: Trapline, provider: str, webhook: str | None = None) -> Mock:
    body = {"name": "Measured", "provider": provider} | ({"webhookUrl": webhook} if webhook else {})
    with closing(server.http()) as http:
        return Mock(http.json("POST", "/api/mocks", body))


def customer(server: Trapline, mock: Mock) -> str:
    with closing(Http(server.http_port, mock.key)) as http:
        answer = http.exchange(mock.post(http, "/v1/customers", {"email": "ada@example.com"}))
        return json.loads(answer.body)["id"]


def changing(http: Http, mock: Mock) -> bytes:
    return mock.post(http, "/v1/customers", {"email": "ada@example.com", "name": "Ada"})


def batches(mock: Mock) -> Callable[[Http], bytes]:
    event = {"type": "track", "userId": "ada", "event": "Signed Up", "properties": {"plan": "pro"}}
    authorization = base64.b64encode(f"{mock.key}:".encode()).decode()
    headers = f"Authorization: Basic {authorization}\r\n"
    body = {"batch": [event] * BATCH}
    return lambda http: http.bytes_of("POST", f"{mock.base}/v1/batch", body, headers)


def rate(
    server: Trapline,
    name: str,
    asks: list,
    seconds: float,
    found: dict[str, float],
    settled: Callable[[int], object] = lambda _: None,
) -> None:
    """Calls a second, and the server's CPU for each until what it leads to is done."""
    with connected(server.http_port, asks) as connections:
        connections.run(1)
        settled(0)
        before = server.usage().cpu_ms
        count, took = connections.run(seconds)
        settled(count)
        found[f"{name}, a second"] = count / took
        found[f"{name}, ms of CPU"] = (server.usage().cpu_ms - before) / count


def deliveries(sink: Sink) -> Callable[[int], object]:
    """Awaits all webhooks, and then so many more."""
    before = 0

    def settled(count: int) -> None:
        nonlocal before
        if count == 0:
            before = sink.settle(1)["requests"]
        else:
            sink.wait_requests(before + count, 120)

    return settled


def one_at_a_time(server: Trapline, sink: Sink, mock: Mock, found: dict[str, float]) -> None:
    """What one connection waits for a changing call, and how long after the reply its webhook comes."""
    sink.settle(1)
    path, replies, took = "/200/0", [], []
    seen = sum(arrival.path == path for arrival in sink.arrivals())
    with closing(Http(server.http_port, mock.key)) as http:
        request = mock.post(http, "/v1/customers", {"email": "ada@example.com"})
        for _ in range(TIMED):
            began = time.time_ns()
            answer = http.exchange(request)
            replies.append(time.time_ns())
            if answer.status != 200:
                raise Failed(f"{answer.status} {answer.body[:300]!r}")
            took.append((replies[-1] - began) / 1e6)
            time.sleep(1 / PACE)
    sink.settle(1)
    arrivals = [arrival.at for arrival in sink.arrivals() if arrival.path == path][seen:]
    if len(arrivals) != len(replies):
        raise Failed(f"{len(arrivals)} webhooks of {len(replies)} calls")
    found["changing call over one connection, ms p50"] = statistics.median(took)
    p50, p99 = quantiles([(at - reply) / 1e6 for at, reply in zip(sorted(arrivals), replies)])
    found["reply to its webhook, ms p50"], found["reply to its webhook, ms p99"] = p50, p99


def idle(count: int) -> None:
    """What mocks that nobody calls take, over teams with as many as one may have."""
    with Trapline() as server:
        keys = [server.token, *(server.new_team(f"Team {number}") for number in range(1, -(-count // TEAM)))]
        usage = server.usage()
        for team, key in enumerate(keys):
            with closing(Http(server.http_port, key)) as http:
                for number in range(min(TEAM, count - team * TEAM)):
                    http.json("POST", "/api/mocks", {"name": f"Mock {number}", "provider": "stripe"})
        after = server.usage()
    print(
        f"{count} mocks: {(after.cpu_ms - usage.cpu_ms) / count:.3f} ms of CPU to create one,"
        f" {after.rss_mb:.1f} MB then ({usage.rss_mb:.1f} MB before)",
        flush=True,
    )


def beside_stripe_mock(rounds: int, seconds: float) -> None:
    found = collections.defaultdict(list)
    for number in range(rounds):
        for name in by_turns(["trapline", "stripe-mock"], number):
            for what, value in of_stripe(name, seconds).items():
                found[f"{name}: {what}"].append(value)
    for what, values in sorted(found.items()):
        print(f"{what}: {spread(values)}", flush=True)


def of_stripe(name: str, seconds: float) -> dict[str, float]:
    """Creating and listing customers over 64 connections to one server."""
    found: dict[str, float] = {}
    with Trapline() if name == "trapline" else rivals.stripe_mock() as server:
        if name == "trapline":
            mock = created(server, "stripe")
        else:
            mock = Mock({"id": "", "slug": "", "credentials": {"secretKey": "sk_test_123"}})
            mock.base = ""
        listing = [(mock.key, lambda http: mock.get(http, "/v1/customers?limit=10"))] * MOCKS
        creating = [(mock.key, lambda http: changing(http, mock))] * MOCKS
        rate(server, "create", creating, seconds, found)
        rate(server, "list of 10", listing, seconds, found)
    return found


if __name__ == "__main__":
    sys.exit(main())
