"""Memory after 100,000 messages over 1,000 inboxes, each sender signing in."""

from ..blast import blast, logins, whole
from ..plan import Plan
from ..rows import Results
from ..servers import SYSTEMS

PER_CONNECTION = 10


def measure(plan: Plan, results: Results) -> None:
    """Once each: it takes minutes, and memory hardly depends on the moment."""
    messages, inboxes = plan.pick(100_000, 5_000), plan.pick(1_000, 100)
    for name in plan.systems:
        with SYSTEMS[name]() as server:
            options = [*logins(server, server.inboxes(inboxes)), "--messages", messages]
            report = blast(server, *options, "--per-connection", PER_CONNECTION)
            whole(report, messages)
            used = server.usage()
            results.add("memory-100k", name, used.rss_mb)
            seen = {"peakMb": used.peak_mb, "anonymousMb": used.anonymous_mb}
            results.note("memory", name, **seen, report=report)
