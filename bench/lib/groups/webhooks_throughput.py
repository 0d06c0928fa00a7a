"""How many deliveries a second, what each costs, and whether all are made.

A burst is sent as quickly as the server takes it, while the calls are made; a backlog is more
calls than mails, so that nearly all of them are made after the mails are in.
"""

import time

from ..blast import blast, recipients, whole
from ..hooks import UNLIMITED, create, hooked
from ..plan import Plan
from ..rows import Results
from ..servers import Server, Trapline
from ..sink import Sink

# Enough that no message is evicted before its webhook was called.
INBOXES = 64
CONNECTIONS = 16
ENDPOINTS = 10
LIMIT = 300
SETTLE = 2


def measure(plan: Plan, results: Results) -> None:
    for name in plan.rounds_of(plan.systems):
        if name == "mailpit":
            mailpit(plan, results)
        else:
            burst(plan.pick(20_000, 2_000), results)
            backlog(plan.pick(2_000, 200), results)


def load(server: Server, messages: int) -> None:
    """Sends the mails; returns when the last is accepted."""
    options = ["--messages", messages, "--connections", CONNECTIONS, "--settle", 0]
    to = recipients(server, server.inboxes(INBOXES))
    whole(blast(server, *to, *options), messages)


def burst(messages: int, results: Results) -> None:
    """One endpoint. What deliveries cost is what the same mails cost more than without them."""
    with Trapline() as server:
        alone = cost(server, lambda: load(server, messages))
    with Sink() as sink, hooked("trapline", sink) as server:

        def deliver() -> None:
            load(server, messages)
            seen["ended"] = time.time_ns()
            seen["stats"] = sink.wait_distinct(messages, LIMIT)

        seen: dict = {}
        together = cost(server, deliver)
        stats = seen["stats"]
        after = sum(arrival.at > seen["ended"] for arrival in sink.arrivals())
        cpu = sink.usage().cpu_ms / stats["requests"]
        results.add("hook-burst", "trapline", rate(stats))
        results.add("hook-called", "trapline", 100 * stats["distinct"] / messages)
        results.add("hook-cpu", "trapline", (together - alone) / messages)
        results.note(
            *("webhooks", "trapline"),
            part="burst",
            perSecondAfter=after / max(1e-9, (stats["last"] - seen["ended"]) / 1e9),
            callsAfter=after,
            repeats=stats["requests"] - stats["distinct"],
            receiverCpuMs=cpu,
        )


def backlog(messages: int, results: Results) -> None:
    """Ten endpoints, each a host of its own, and every mail for all of them."""
    with Sink(hosts=ENDPOINTS) as sink, Trapline() as server:
        for number in range(ENDPOINTS):
            create(server, sink.url(f"/200/{number}", host=number))
        load(server, messages)
        stats = sink.wait_distinct(messages * ENDPOINTS, LIMIT)
        results.add("hook-backlog", "trapline", rate(stats))
        repeats = stats["requests"] - stats["distinct"]
        results.note("webhooks", "trapline", part="backlog", repeats=repeats)


def mailpit(plan: Plan, results: Results) -> None:
    """As installed it calls once a second and drops the rest; then with a limit that is none."""
    messages = plan.pick(5_000, 1_000)
    for limit in (None, UNLIMITED):
        with Sink() as sink, hooked("mailpit", sink, limit) as server:
            load(server, messages)
            stats = sink.settle(SETTLE)
            called = 100 * stats["distinct"] / messages
            if limit is None:
                results.add("hook-called", "mailpit", called)
            else:
                results.add("hook-burst", "mailpit", rate(stats))
            results.note("webhooks", "mailpit", part="burst", limit=limit, calledPercent=called)


def rate(stats: dict) -> float:
    return (stats["distinct"] - 1) / ((stats["last"] - stats["first"]) / 1e9)


def cost(server: Server, work: object) -> float:
    """CPU of the server in ms, up to one second after the work."""
    before = server.usage().cpu_ms
    work()
    time.sleep(1)
    return server.usage().cpu_ms - before
