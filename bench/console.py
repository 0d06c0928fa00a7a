#!/usr/bin/env python3
"""Measures the web console in headless Chromium.

    bench/console.py target/dist/trapline

Prints what it takes to see, to find and to read mail in an inbox of 10,000 messages, what comes while one looks on, and
what the console's files weigh: medians over the rounds, beside what is to be reached. smtpblast is that of the `dist`
profile; Chromium and Playwright are those of `tests/setup.sh`.
"""

import collections
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass

from lib import build, machine
from lib.blast import blast, whole
from lib.rest import Failed
from lib.standalone import measurement
from people import Served

MODULES = build.ROOT / "tests" / ".tools" / "node" / "node_modules"
SECONDS = 1_800


@dataclass(frozen=True)
class Row:
    """A value that is measured, and the most that it should be."""

    id: str
    what: str
    unit: str
    most: float | None = None


ROWS = [
    Row("firstScripts", "scripts before the first inbox is shown (gzip)", "kB", 60),
    Row("firstStyles", "styles before it (gzip)", "kB", 12),
    Row("allScripts", "all scripts (gzip)", "kB", 180),
    Row("kept", "what the executable has of the console", "MB", 1),
    Row("roundTrips", "round trips to the first row", "", 3),
    Row("nodes", "DOM nodes over 10,000 messages", "", 1_500),
    Row("firstRow", "HTML answered to the first row", "ms", 300),
    Row("firstRowSlow", "the same with the CPU slowed four times", "ms", 900),
    Row("heap", "heap with 10,000 messages in the inbox", "MB"),
    Row("head", "key to the head of the next message", "ms", 50),
    Row("html", "key to its HTML", "ms", 150),
    Row("scrollFrame", "scrolling 10,000 messages: p95 of a frame", "ms", 16.7),
    Row("scrollTask", "the longest task then", "ms", 50),
    Row("heldFrame", "`j` held for 5 s: p95 of a frame", "ms", 16.7),
    Row("heldTask", "the longest task then", "ms", 50),
    Row("search", "last search key to the rows, 10,000 in the inbox", "ms", 250),
    Row("row", "250 to the row, p50", "ms", 100),
    Row("rowP99", "250 to the row, p99", "ms", 250),
    Row("change", "a change in one browser to the other, p50", "ms", 100),
    Row("changeP99", "a change in one browser to the other, p99", "ms", 250),
    Row("burstRate", "mails a second of a burst into the open inbox", "per s"),
    Row("burstBusy", "the page's main thread then", "%", 50),
    Row("burstHeap", "what the heap grows by", "MB", 30),
    Row("burstMissed", "messages that the list is wrong by, a second later", "", 0),
    Row("opened", "heap after 500 opened messages", "MB", 40),
]


def main() -> int:
    found = collections.defaultdict(list)
    with measurement(__doc__, rounds=3, messages=10_000) as arguments:
        facts = machine.facts(build.WORK)
        print(f"{facts['cpu']}, {facts['cores']} cores, load before the run {facts['loadBefore']:.1f}", flush=True)
        for _ in range(arguments.rounds):
            for name, value in measured(arguments.messages).items():
                found[name].append(value)
    show(found)
    return 0


def measured(messages: int) -> dict[str, float]:
    """The values of one round, with a server and a browser of its own."""
    with Served() as server:
        cookie, http = server.owner(), server.http()
        full, other = (
            http.json("POST", "/api/inboxes", {"name": name, "maxMessages": 10_000})
            for name in ("Full", "Other")
        )
        http.close()
        smtp = full["smtp"]
        user = ["--user", smtp["username"], "--password", smtp["password"]]
        whole(blast(server, "--messages", messages, *user), messages)
        settings = {
            "home": f"http://127.0.0.1:{server.http_port}",
            "cookie": cookie,
            "inbox": full["id"],
            "other": other["id"],
            "smtp": other["smtp"],
            "smtpblast": str(build.SMTPBLAST_BINARY),
        }
        command = ["node", str(build.BENCH / "console" / "measure.cjs"), json.dumps(settings)]
        environment = os.environ | {"NODE_PATH": str(MODULES)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode != 0:
            raise Failed(f"the browser: {done.stderr[-2000:]}")
        return json.loads(done.stdout)


def show(found: dict[str, list[float]]) -> None:
    print("| what | median | from – to | to reach | reached |")
    print("|---|---|---|---|---|")
    for row in ROWS:
        values = found[row.id]
        median = statistics.median(values)
        reach = "–" if row.most is None else f"≤ {number(row.most)} {row.unit}".strip()
        met = "–" if row.most is None else "yes" if median <= row.most else "**no**"
        spread = f"{number(min(values))} – {number(max(values))}"
        print(f"| {row.what} | {number(median)} {row.unit} | {spread} | {reach} | {met} |")


def number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.1f}"


if __name__ == "__main__":
    sys.exit(main())
