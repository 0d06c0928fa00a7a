#!/usr/bin/env python3
"""Measures what other clients see while a stranger attacks, beside the same without an attack.

    bench/attacks.py [--seconds N] [--only NAME,…] [--binary PATH] [--write]

Before each attack a quiet phase is measured, over the same server, and then the same attack against
another server that refuses whatever it is asked: what others see then is the attack's own work, on the
two cores that all share. `--write` puts the table into docs/benchmarks.md.
"""

import argparse
import contextlib
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from lib import build, machine
from lib.attacks import ATTACKS
from lib.mail import Sender
from lib.refusal import Refusing
from lib.rest import Http
from lib.servers import Inbox, Trapline

BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"
PAGE = build.ROOT / "docs" / "benchmarks.md"
# What an attack needs until it is in full swing: it stores messages of its own first.
LEAD = 6
KINDS = ("mail", "list", "wait", "health")


class Client:
    """An ordinary client, of another team and address than the attacker."""

    def __init__(self, server: Trapline) -> None:
        self.server, self.token = server, server.new_team("Others")
        (self.inbox,) = server.inboxes(1, token=self.token)

    def observe(self, seconds: float) -> dict[str, list[float]]:
        """What it sees, one request after another, in milliseconds."""
        found: dict[str, list[float]] = {kind: [] for kind in KINDS}
        sender = Sender(self.server.smtp_port, self.inbox.address)
        rest = Http(self.server.http_port, self.token)
        messages = f"/api/inboxes/{self.inbox.id}/messages"
        until = time.monotonic() + seconds

        def timed(kind: str, work: Callable[[], object]) -> None:
            began = time.monotonic()
            work()
            found[kind].append(1000 * (time.monotonic() - began))

        def mail() -> None:
            sender.socket.sendall(sender.prepare(subject))
            sender._reply(b"250")

        while time.monotonic() < until:
            subject = f"s{time.monotonic_ns()}"
            wait = f"{messages}/wait?subject={subject}&timeout=30"
            timed("mail", mail)
            timed("list", lambda: rest.json("GET", f"{messages}?limit=50"))
            timed("wait", lambda wait=wait: rest.json("GET", wait))
            timed("health", lambda: rest.json("GET", "/api/health"))
            time.sleep(0.005)
        sender.close()
        rest.close()
        return found


def quantile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


@contextlib.contextmanager
def attacked(attack: Callable, server: object, inbox: Inbox) -> Iterator[None]:
    process = multiprocessing.Process(target=attack, args=(server, inbox), daemon=True)
    process.start()
    time.sleep(LEAD)
    try:
        yield
    finally:
        process.kill()
        process.join()


def measure(attack: Callable, seconds: float) -> dict:
    """One server: quiet, then beside an attack on nothing, then attacked."""
    with Trapline() as server:
        client, (theirs,) = Client(server), server.inboxes(1)
        quiet = client.observe(seconds)
        with Refusing() as refusing, attacked(attack, refusing, theirs):
            beside = client.observe(seconds)
        with attacked(attack, server, theirs):
            before = server.usage()
            under = client.observe(seconds)
            after = server.usage()
    return {"quiet": quiet, "beside": beside, "under": under, "before": before, "after": after}


def rows(attack: Callable, found: dict, seconds: float) -> list[str]:
    def cells(phase: str) -> list[str]:
        made = []
        for kind in KINDS:
            before, now = (quantile(found[one][kind], 0.99) for one in ("quiet", phase))
            made.append(f"{before:.1f} → {now:.1f} ms ({now / before:.1f} ×)")
        return made

    cpu = found["after"].cpu_ms - found["before"].cpu_ms
    usage = [f"{cpu / seconds / 10:.0f} %", f"{found['after'].peak_mb:.0f} MB"]
    name = attack.__doc__.strip().rstrip(".")
    alone = ["… refused at once by another server", *cells("beside"), "", ""]
    return [f"| {' | '.join(row)} |" for row in ([name, *cells("under"), *usage], alone)]


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
        lines += rows(attack, measure(attack, options.seconds), options.seconds)
        print(*lines[-2:], sep="\n", flush=True)
    if options.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text("\n".join([before + BEGIN, *lines, END]) + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
