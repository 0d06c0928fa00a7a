"""100,000 retries held: what they take, and whether a retry is on time beside them.

100 endpoints answer every call with 503 and the longest Retry-After, which makes the first pause 60
to 66 s and the second 240 to 264 s. Once each delivery had its second call, all wait for the third.
Meanwhile another endpoint answers 500, and its retries, due 27 to 33 s later, are timed against the
`nextAttemptAt` of the delivery log.
"""

import time
from contextlib import closing

from ..blast import blast, recipients, whole
from ..hooks import create, next_attempts, send
from ..plan import Plan
from ..rest import Failed
from ..rows import Results
from ..servers import Inbox, Server, Trapline
from ..sink import Sink, quantiles

LONG = 3600
LIMIT = 240
HOLD = 5
PROBES = 150


def measure(plan: Plan, results: Results) -> None:
    """Once: it takes minutes."""
    hooks, mails = plan.pick(100, 10), plan.pick(1_000, 100)
    with Sink(hosts=hooks + 1, retry_after=LONG) as sink, Trapline() as server:
        held, probed = server.inboxes(2)
        ids = [
            create(server, sink.url(f"/503/{number}", host=number), held)
            for number in range(hooks)
        ]
        probe = create(server, sink.url("/500/probe", host=hooks), probed)
        begun = time.monotonic()
        fill(server, held, mails)
        sink.wait_requests(hooks * mails, LIMIT)
        filled = time.monotonic() - begun
        busy = dues(server, ids[:: max(1, hooks // 10)])
        sink.wait_requests(2 * hooks * mails, LIMIT)
        hold(server, results)
        quiet = probes(server, sink, probed, probe, plan.pick(PROBES, 20))
        report(sink, busy, quiet, results)
        results.note("webhooks", "trapline", part="retries", firstCallsSeconds=filled)


def fill(server: Server, inbox: Inbox, mails: int) -> None:
    options = ["--messages", mails, "--connections", 4, "--settle", 0]
    whole(blast(server, *recipients(server, [inbox]), *options), mails)


def hold(server: Server, results: Results) -> None:
    """Memory and CPU while nothing is due."""
    before = server.usage()
    time.sleep(HOLD)
    after = server.usage()
    results.add("hook-held", "trapline", after.rss_mb)
    results.add("hook-held-cpu", "trapline", (after.cpu_ms - before.cpu_ms) / HOLD)
    sizes = {"anonymousMb": after.anonymous_mb, "peakMb": after.peak_mb}
    results.note("webhooks", "trapline", part="held", **sizes)


def dues(server: Server, webhooks: list[str]) -> dict[str, int]:
    with closing(server.http()) as http:
        return {id: due for webhook in webhooks for id, due in next_attempts(http, webhook).items()}


def probes(server: Server, sink: Sink, inbox: Inbox, webhook: str, count: int) -> dict[str, int]:
    """Fails some deliveries and waits for their retries; when those were due."""
    before = sink.stats()["requests"]
    send(server, inbox, count, per_second=20)
    sink.wait_requests(before + count, 30)
    # The answer to the last call is yet to be noted.
    time.sleep(1)
    due = dues(server, [webhook])
    sink.wait_requests(before + 2 * count, 60)
    return due


def report(sink: Sink, busy: dict[str, int], quiet: dict[str, int], results: Results) -> None:
    if sink.stats()["unkept"]:
        raise Failed("the receiver's log is full")
    calls: dict[str, list[int]] = {}
    for call in sink.arrivals():
        calls.setdefault(call.delivery, []).append(call.at)
    p50, p99 = quantiles(lateness(quiet, calls))
    results.add("hook-late-p50", "trapline", p50)
    results.add("hook-late-p99", "trapline", p99)
    p50, p99 = quantiles(lateness(busy, calls))
    results.add("hook-late-busy", "trapline", p99)
    results.note("webhooks", "trapline", part="lateBusy", p50Ms=p50, retries=len(busy))


def lateness(due: dict[str, int], calls: dict[str, list[int]]) -> list[float]:
    """Milliseconds from when the second call was due to when it came."""
    late = [(calls[id][1] - at) / 1e6 for id, at in due.items() if len(calls.get(id, ())) > 1]
    if len(late) < 2:
        raise Failed("no retry came")
    return late
