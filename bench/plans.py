#!/usr/bin/env python3
"""Measures by turns what a counted plan costs the receiving path, beside one without limits.

    bench/plans.py target/dist/trapline

Prints the server's CPU for a message of 16 connections on both plans, and by how many percent the one with
limits needs more; smtpblast is that of the `dist` profile.
"""

import json
import statistics
import sys
from pathlib import Path

from lib import build
from lib.blast import blast, recipients
from lib.groups.smtp import INBOXES
from lib.load import by_turns
from lib.servers import Trapline
from lib.standalone import measurement

LIMITS = {
    "inboxes": 100_000,
    "messagesPerMonth": 1_000_000_000,
    "messagesPerInbox": 10_000,
    "messageBytes": 25 << 20,
    "retentionDays": None,
    "members": 100,
}


class Planned(Trapline):
    """On the plan of this file; without one, on the plan without limits."""

    plans: Path | None = None

    def environment(self) -> dict[str, str]:
        more = {"TRAPLINE_PLANS": str(self.plans)} if self.plans else {}
        return super().environment() | more


def main() -> int:
    with measurement(__doc__, rounds=7, seconds=8) as arguments:
        measure(arguments.rounds, arguments.seconds)
    return 0


def counted() -> Path:
    """A file with a counted plan. The first team's is not in it, so the team is on this default one."""
    file = build.WORK / "plans.json"
    plan = {"id": "counted", "name": "Counted", "features": ["webhooks"], "limits": LIMITS}
    file.write_text(json.dumps({"default": "counted", "plans": [plan]}))
    return file


def measure(rounds: int, seconds: int) -> None:
    file = counted()
    found = {"unlimited": [], "counted": []}
    for number in range(rounds):
        for name in by_turns(list(found), number):
            Planned.plans = file if name == "counted" else None
            found[name].append(run(seconds))
            print(f"round {number + 1}, {name}: {found[name][-1]:.4f} ms", flush=True)
    before, after = (statistics.median(found[name]) for name in found)
    more = (after / before - 1) * 100
    print(f"CPU a message: unlimited {before:.4f} ms, counted {after:.4f} ms ({more:+.1f} %)")


def run(seconds: int) -> float:
    with Planned("process") as server:
        inboxes = recipients(server, server.inboxes(INBOXES))
        report = blast(server, *inboxes, "--connections", 16, "--duration", seconds)
        return report["server"]["cpuMsPerMessage"]


if __name__ == "__main__":
    sys.exit(main())
