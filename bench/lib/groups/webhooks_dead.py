"""100 endpoints that answer, alone and beside one that never does.

Each is a host of its own. The same mails go to all of them at a steady pace, and the endpoint that
never answers holds its calls until the server gives them up.
"""

from ..hooks import create, delays, send
from ..plan import Plan
from ..rows import Results
from ..servers import Trapline
from ..sink import Sink, quantiles

ENDPOINTS = 100
PER_SECOND = 5


def measure(plan: Plan, results: Results) -> None:
    mails = plan.pick(75, 15)
    for _ in range(plan.rounds):
        alone = p99(mails, dead=False)
        beside = p99(mails, dead=True)
        results.add("hook-dead-p99", "trapline", beside)
        results.add("hook-dead", "trapline", beside / alone)
        results.note("webhooks", "trapline", part="dead", aloneMs=alone, besideMs=beside)


def p99(mails: int, dead: bool) -> float:
    """p99 from the 250 to the call, over all calls of the endpoints that answer."""
    with Sink(hosts=ENDPOINTS + 1) as sink, Trapline() as server:
        if dead:
            create(server, sink.url("/never/0", host=ENDPOINTS))
        for number in range(ENDPOINTS):
            create(server, sink.url(f"/200/{number}", host=number))
        inbox = server.inboxes(1)[0]
        # Opens the connections, and occupies the endpoint that does not answer.
        send(server, inbox, ENDPOINTS // 10, PER_SECOND)
        accepted = send(server, inbox, mails, PER_SECOND)
        wanted = (mails + ENDPOINTS // 10) * ENDPOINTS
        sink.wait(lambda stats: answered(sink, stats, wanted) >= wanted, 60)
        calls = (call for call in sink.arrivals() if call.path.startswith("/200/"))
        return quantiles(delays(accepted, calls))[1]


def answered(sink: Sink, stats: dict, wanted: int) -> int:
    """Calls of endpoints that answer; they are told apart only once there are enough calls."""
    if stats["distinct"] < wanted:
        return 0
    return sum(call.path.startswith("/200/") for call in sink.arrivals())
