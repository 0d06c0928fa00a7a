"""What an idle process does for a million kept messages: CPU, and durable commits."""

import time
from pathlib import Path

from ..blast import blast, recipients, whole
from ..plan import Plan
from ..rows import Results
from ..servers import Server, Trapline
from .inboxes import await_quiet

PER_INBOX = 10_000
LOOK_SECONDS = 0.02


def measure(plan: Plan, results: Results) -> None:
    """Once: filling takes minutes."""
    if "trapline" not in plan.systems:
        return
    messages, seconds = plan.pick(1_000_000, 20_000), plan.pick(300, 10)
    with Trapline() as server:
        inboxes = server.inboxes(plan.pick(2 * messages // PER_INBOX, 4), PER_INBOX)
        options = ["--messages", messages, "--connections", 64]
        whole(blast(server, *recipients(server, inboxes), *options), messages)
        await_quiet(server)
        before = server.usage()
        commits = changes_of_log(server, seconds)
        after = server.usage()
        results.add("kept-commits", "trapline", commits * 60 / seconds)
        results.add("kept-cpu", "trapline", (after.cpu_ms - before.cpu_ms) / seconds)
        results.note("kept", "trapline", messages=messages, rssMb=after.rss_mb)


def changes_of_log(server: Server, seconds: int) -> int:
    """How often SQLite's write-ahead log was written to, which each commit does once."""
    (log,) = server.data.rglob("*-wal")
    seen, changes = stamp(log), 0
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
        if (now := stamp(log)) != seen:
            seen, changes = now, changes + 1
    return changes


def stamp(log: Path) -> tuple[int, int]:
    found = log.stat()
    return found.st_mtime_ns, found.st_size
