"""Webhooks: from the 250 to the endpoint, deliveries a second, retries, and who holds up whom."""

from ..hooks import UNLIMITED, delays, hooked, send
from ..plan import Plan
from ..rest import Failed
from ..rows import Results
from ..servers import Server
from ..sink import Sink, quantiles
from . import webhooks_dead, webhooks_retries, webhooks_throughput

SETTLE = 2


def measure(plan: Plan, results: Results) -> None:
    latency(plan, results)
    webhooks_throughput.measure(plan, results)
    if "trapline" in plan.systems:
        webhooks_dead.measure(plan, results)
        webhooks_retries.measure(plan, results)


def latency(plan: Plan, results: Results) -> None:
    """Mails one at a time, then at a steady pace over four connections."""
    paces = {
        "hook": {"count": plan.pick(200, 40), "per_second": 30},
        "hook-busy": {"count": plan.pick(1600, 200), "per_second": 200, "senders": 4},
    }
    for name in plan.rounds_of(plan.systems):
        with Sink() as sink, hooked(name, sink, UNLIMITED) as server:
            for row, pace in paces.items():
                took = timed(server, sink, **pace)
                p50, p99 = quantiles(took)
                results.add(f"{row}-p50", name, p50)
                results.add(f"{row}-p99", name, p99)
                results.note("webhooks", name, part=row, calls=len(took), maxMs=max(took))


def timed(server: Server, sink: Sink, count: int, **pace: float) -> list[float]:
    """Milliseconds from the 250 to the call, of every mail."""
    before = sink.stats()["distinct"]
    accepted = send(server, server.inboxes(1)[0], count, **pace)
    if server.name == "mailpit":
        sink.settle(SETTLE)
    else:
        sink.wait_distinct(before + count, 30)
    took = delays(accepted, sink.arrivals())
    if not took:
        raise Failed("no webhook was called")
    return took
