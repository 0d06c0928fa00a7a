"""Memory and CPU of 10,000 parked waits over 100 inboxes; then one message each wakes them all."""

import time

from ..blast import blast, recipients, whole
from ..plan import Plan
from ..rest import Failed, Http, query
from ..rows import Results
from ..servers import Inbox, Server, Trapline

INBOXES = 100
TIMEOUT = 120


def measure(plan: Plan, results: Results) -> None:
    if "trapline" not in plan.systems:
        return
    count, hold = plan.pick(10_000, 1_000), plan.pick(10, 3)
    for _ in range(plan.rounds):
        with Trapline() as server:
            inboxes = server.inboxes(INBOXES)
            waits = park(server, inboxes, count)
            time.sleep(2)
            before = server.usage()
            time.sleep(hold)
            after = server.usage()
            results.add("memory-waits", "trapline", after.rss_mb)
            results.add("waits-cpu", "trapline", (after.cpu_ms - before.cpu_ms) / hold)
            results.note("waits", "trapline", answeredSeconds=wake(server, inboxes, waits))


def park(server: Server, inboxes: list[Inbox], count: int) -> list[Http]:
    waits = []
    for number in range(count):
        inbox = inboxes[number % len(inboxes)]
        http = server.http()
        path = query(f"/api/inboxes/{inbox.id}/messages/wait", subject="wake", timeout=TIMEOUT)
        http.socket.sendall(http.bytes_of("GET", path))
        waits.append(http)
    return waits


def wake(server: Server, inboxes: list[Inbox], waits: list[Http]) -> float:
    """Sends one message to each inbox; seconds until the last wait is answered with it."""
    begun = time.monotonic()
    options = ["--subject", "wake {n}", "--messages", len(inboxes), "--settle", 0]
    whole(blast(server, *recipients(server, inboxes), *options), len(inboxes))
    answers(waits)
    return time.monotonic() - begun


def answers(waits: list[Http]) -> None:
    """Reads the answer of each wait, which must be a message."""
    for http in waits:
        answer = http.answer()
        if answer.status != 200:
            raise Failed(f"wait: {answer.status} {answer.body[:200]!r}")
        http.close()
