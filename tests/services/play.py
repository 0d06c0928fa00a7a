#!/usr/bin/env python3
"""Runs a whole cluster on this machine to play with: `make cluster`.

    tests/services/play.py target/release/trapline

starts Cassandra, NATS, Redis and an S3 server, one node each, and one process of each role over them;
prints what a first mail needs; and ends everything, with all data, on Ctrl-C.
"""

import argparse
import base64
import os
import secrets
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from network import Subnet
from run import Stopped, ignore_signals, make_folder, plan, running, stop
from service import Failure, Service, end_all, start_all

HTTP, SMTP = "127.0.0.1:8025", "127.0.0.1:1025"
# The roles without an API have probes here.
PROBES = {"smtp": "127.0.0.1:8026", "worker": "127.0.0.1:8027"}


class Role(Service):
    """One `trapline` process; its settings are in the environment."""

    def __init__(self, program: Path, role: str, folder: Path, flags: list[str]) -> None:
        super().__init__(role, folder, "127.0.0.1")
        self.http = PROBES.get(role, HTTP)
        self.words = [str(program), role, "--http", self.http, *flags]

    def command(self) -> list[str]:
        return self.words

    def ready(self) -> bool:
        with urllib.request.urlopen(f"http://{self.http}/readyz", timeout=1) as answer:
            return int(answer.status) == 200


def roles(program: Path, folder: Path) -> list[Role]:
    port = SMTP.rpartition(":")[2]
    told = ["--smtp-host", "127.0.0.1", "--smtp-port", port]
    here = ["--webhook-allow-cidrs", "127.0.0.0/8"]
    return [
        Role(program, "api", folder, [*told, *here]),
        Role(program, "smtp", folder, ["--smtp", SMTP, "--catch-all", "true"]),
        Role(program, "worker", folder, here),
    ]


def play(program: Path) -> None:
    (folder, litter), subnet = make_folder(None), Subnet()
    one = argparse.Namespace(cassandra=1, nats=1, redis=1, s3=1)
    services, settings = plan(one, folder, subnet)
    os.environ.update(settings, TRAPLINE_SECRET_KEY=secret_key())
    print("Starting Cassandra, NATS, Redis and an S3 server …", flush=True)
    with running(services, litter):
        first = migrate(program)
        processes = roles(program, folder)
        try:
            start_all(processes)
            print(banner(first, folder, processes), flush=True)
            signal.pause()
        finally:
            ignore_signals()
            end_all(processes)


def secret_key() -> str:
    return base64.b64encode(secrets.token_bytes(32)).decode()


def migrate(program: Path) -> str:
    """The first inbox and key, as the migration prints them."""
    done = subprocess.run([program, "migrate"], capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"trapline migrate: {done.stderr}")
    return done.stdout.partition("\n\n")[2].rstrip()


def banner(first: str, folder: Path, processes: list[Role]) -> str:
    probes = ", ".join(f"{process.name} {process.http}" for process in processes)
    return f"""
Trapline is running as a cluster.

  API      http://{HTTP}/api   (documentation at http://{HTTP}/docs)
  SMTP     {SMTP}
{first}
           (mail without credentials lands in this inbox too)
  Probes   {probes}
  Logs     {folder}/*/log

Ctrl-C ends it, and removes all it has stored.
"""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path, help="the trapline to run")
    program = parser.parse_args().program.resolve()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        play(program)
    except Stopped:
        pass
    except (Failure, OSError) as failure:
        print(f"tests/services/play.py: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
