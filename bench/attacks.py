#!/usr/bin/env python3
"""Measures what other clients see while a stranger attacks, beside the same without an attack.

    bench/attacks.py [--seconds N] [--only NAME,…] [--binary PATH] [--write]

Before each attack a quiet phase is measured, over the same server. `--write` puts the table into
docs/benchmarks.md.
"""

import argparse
import multiprocessing
import sys
import time
from pathlib import Path

from lib import build, machine
from lib.attacks import ATTACKS
from lib.mail import Sender
from lib.rest import Http
from lib.servers import Inbox, Trapline

BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"
PAGE = build.ROOT / "docs" / "benchmarks.md"
# What an attack needs until it is in full swing: it stores messages of its own first.
LEAD = 6
KINDS = ("mail", "list", "wait", "health")


def observe(server: Trapline, inbox: Inbox, seconds: float) -> dict[str, list[float]]:
    """What one ordinary client sees, one request after another, in milliseconds."""
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    sender, rest = Sender(server.smtp_port, inbox.address), Http(server.http_port, server.token)
    until, number = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        number += 1
        subject = f"s{time.monotonic_ns()}"

        def timed(kind: str, work: object) -> None:
            began = time.monotonic()
            work()
            found[kind].append(1000 * (time.monotonic() - began))

        def mail() -> None:
            sender.socket.sendall(sender.prepare(subject))
            sender._reply(b"250")

        wait = f"/api/inboxes/{inbox.id}/messages/wait?subject={subject}&timeout=30"
        timed("mail", mail)
        timed("list", lambda: rest.json("GET", f"/api/inboxes/{inbox.id}/messages?limit=50"))
        timed("wait", lambda: rest.json("GET", wait))
        timed("health", lambda: rest.json("GET", "/api/health"))
        time.sleep(0.005)
    sender.close()
    rest.close()
    return found


def quantile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def measure(attack: object, seconds: float) -> dict:
    """One server: quiet, then attacked."""
    with Trapline() as server:
        mine, theirs = server.inboxes(2)
        quiet = observe(server, mine, seconds)
        process = multiprocessing.Process(target=attack, args=(server, theirs), daemon=True)
        process.start()
        time.sleep(LEAD)
        before = server.usage()
        attacked = observe(server, mine, seconds)
        after = server.usage()
        process.kill()
        process.join()
    return {"quiet": quiet, "attacked": attacked, "before": before, "after": after}


def row(attack: object, found: dict, seconds: float) -> str:
    cells = [attack.__doc__.strip().rstrip(".")]
    for kind in KINDS:
        quiet, attacked = found["quiet"][kind], found["attacked"][kind]
        before, now = quantile(quiet, 0.99), quantile(attacked, 0.99)
        cells.append(f"{before:.1f} → {now:.1f} ms ({now / before:.1f} ×)")
    cpu = found["after"].cpu_ms - found["before"].cpu_ms
    cells.append(f"{cpu / seconds / 10:.0f} %")
    cells.append(f"{found['after'].peak_mb:.0f} MB")
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--binary", type=Path, help="instead of a build with the profile dist")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    machine.raise_file_limit()
    if options.binary:
        build.TRAPLINE_BINARY = options.binary.resolve()
    else:
        build.build(["trapline"])
    chosen = [one for one in ATTACKS if not options.only or one.__name__ in options.only]
    lines = [
        "| a stranger's | mail, p99 | list, p99 | wait, p99 | health, p99 | server's CPU | peak memory |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for attack in chosen:
        lines.append(row(attack, measure(attack, options.seconds), options.seconds))
        print(lines[-1], flush=True)
    if options.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text("\n".join([before + BEGIN, *lines, END]) + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
