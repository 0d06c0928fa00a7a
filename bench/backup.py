#!/usr/bin/env python3
"""Measures a backup beside mail that arrives, and the restore of it, in one process.

    bench/backup.py target/dist/trapline [--messages 100000] [--bytes 6000] [--rate 200]

Prints how long `backup`, `verify` and `restore` take, how much memory each has at most, and the p99 of a transaction
without a backup and beside it; smtpblast is that of the `dist` profile.
"""

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from lib import build, machine
from lib.blast import blast, recipients, whole
from lib.servers import Trapline
from lib.standalone import measurement

INBOXES = 100
# The longest for which mail is sent beside a backup, in seconds.
MOST = 600


def main() -> int:
    with measurement(__doc__, messages=100_000, bytes=6_000, rate=200) as arguments:
        measure(arguments.messages, arguments.bytes, arguments.rate)
    return 0


def measure(messages: int, size: int, rate: int) -> None:
    with Trapline() as server, tempfile.TemporaryDirectory(dir=build.WORK) as folder:
        here = Path(folder)
        to = recipients(server, server.inboxes(INBOXES))
        fill = blast(server, *to, "--connections", 64, "--messages", messages, "--size", size)
        whole(fill, messages)
        paced = [*to, "--connections", 16, "--rate", rate, "--size", size]
        alone = blast(server, *paced, "--duration", 20)
        beside, took = beside_mail(server, here / "archive.tar", paced)
        told = [("without a backup", alone), ("beside it", beside)]
        for name, report in told:
            print(f"p99 of a transaction {name}: {report['transactionMs']['p99']:.1f} ms")
        print_run("backup", took)
        print(f"  an archive of {(here / 'archive.tar').stat().st_size / 1e6:.0f} MB")
        print_run("verify", run("verify", "--from", here / "archive.tar"))
        print_run("restore", run("restore", "--from", here / "archive.tar", "--data", here / "data"))


def beside_mail(server: Trapline, archive: Path, paced: list) -> tuple[dict, tuple[float, float]]:
    """The report of the mail that was sent while an archive was written, and how that went."""
    found = []
    sending = threading.Thread(target=lambda: found.append(blast(server, *paced, "--duration", 60)))
    sending.start()
    took = run("backup", "--to", archive, "--data", server.data)
    sending.join(MOST)
    return found[0], took


def run(*arguments: object) -> tuple[float, float]:
    """Seconds and megabytes of a command, of which the latter are looked at ten times a second."""
    command = [str(build.TRAPLINE_BINARY), *map(str, arguments)]
    began, peak = time.monotonic(), 0.0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            peak = max(peak, machine.usage(process.pid).peak_mb)
        except (OSError, KeyError, IndexError):
            break
        time.sleep(0.1)
    if process.wait() != 0:
        sys.exit(f"{command} failed")
    return time.monotonic() - began, peak


def print_run(name: str, took: tuple[float, float]) -> None:
    print(f"{name}: {took[0]:.1f} s, {took[1]:.0f} MB at most")


if __name__ == "__main__":
    sys.exit(main())
