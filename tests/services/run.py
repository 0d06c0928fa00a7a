#!/usr/bin/env python3
"""Runs real services for the tests, as many as are asked for, beside anybody else's.

    tests/services/run.py up --cassandra 3 --nats 3 --cluster-redis

starts them, waits until they serve, and prints one line of JSON: the settings that lead to them and
the ids of their processes. Then it obeys lines on its standard input, each answered by one line of
JSON, until the input ends or a signal tells it to stop:

    kill cassandra-2    end it as a crash would
    stop nats-1         make it silent (SIGSTOP)
    cont nats-1         let it go on
    start cassandra-2   start it again over what it had, and wait until it serves

When it is gone, however it went, so are the services, and the folder if this program made it.

    tests/services/run.py exec cargo test -p trapline-cluster

starts them for one command, which finds them in its environment under `TRAPLINE_TEST_…`, and ends as
that command does.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import cql
import nats
import redis
import s3
import spam
from network import Subnet
from service import Failure, Service, end_all, start_all

# Removes files and folders when the standard input ends. A service that dies with this process may
# still hinder the first removal.
GUARD = """
trap '' HUP INT TERM
cat >/dev/null
rm -rf -- "$@" || { sleep 1; rm -rf -- "$@"; }
"""


class Stopped(Exception):
    """A signal came."""


def make_folder(wanted: Path | None) -> tuple[Path, list[Path]]:
    """The folder, and what of it goes with this process: all, if it came with it."""
    if wanted and wanted.exists():
        return wanted.resolve(), []
    folder = wanted or Path(tempfile.mkdtemp(prefix="trapline-services-"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve(), [folder.resolve()]


@contextlib.contextmanager
def running(services: list[Service], litter: list[Path]) -> Iterator[None]:
    """Runs services as long as the body does, and removes what they and this process leave."""
    paths = litter + [path for service in services for path in service.litter]
    guard = subprocess.Popen(
        ["sh", "-c", GUARD, "guard", *map(str, paths)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        start_all(services)
        yield
    finally:
        ignore_signals()
        end_all(services)
        guard.communicate()


def plan(
    options: argparse.Namespace, folder: Path, subnet: Subnet
) -> tuple[list[Service], dict[str, str]]:
    """The services, and the settings that lead to them."""
    services: list[Service] = []
    settings = {}
    if options.cassandra:
        cassandras = cql.cluster(folder, subnet.ips(11, options.cassandra))
        settings["TRAPLINE_CQL"] = cql.address(cassandras)
        services += cassandras
    if options.nats:
        servers = nats.cluster(folder, subnet.ips(21, options.nats))
        settings["TRAPLINE_NATS"] = nats.address(servers)
        services += servers
    if options.redis:
        masters = redis.cluster(folder, subnet.ips(31, options.redis))
        settings["TRAPLINE_REDIS"] = redis.address(masters)
        services += masters
    if options.s3:
        seaweed = s3.Seaweed(folder, subnet.ips(41, 1)[0])
        settings["TRAPLINE_BLOBS"] = seaweed.address()
        services.append(seaweed)
    if options.spam_engines:
        ip = subnet.ips(51, 1)[0]
        engines = [spam.Spamd("spamd", folder, ip), spam.Rspamd("rspamd", folder, ip)]
        settings["TRAPLINE_SPAM_ENGINE"] = ",".join(engine.address() for engine in engines)
        services += engines
    return services, settings


def up(options: argparse.Namespace) -> None:
    (folder, litter), subnet = make_folder(options.folder), Subnet()
    services, settings = plan(options, folder, subnet)
    with running(services, litter):
        pids = {service.name: service.pid() for service in services}
        say({"env": settings, "tests": for_tests(settings), "pids": pids})
        obey({service.name: service for service in services})


def execute(options: argparse.Namespace) -> int:
    (folder, litter), subnet = make_folder(options.folder), Subnet()
    services, settings = plan(options, folder, subnet)
    with running(services, litter):
        return subprocess.run(options.work, env={**os.environ, **for_tests(settings)}).returncode


def for_tests(settings: dict[str, str]) -> dict[str, str]:
    """The variables in which tests look for the services."""
    names = {"TRAPLINE_BLOBS": "TRAPLINE_TEST_S3"}
    tests = {
        names.get(name, name.replace("TRAPLINE_", "TRAPLINE_TEST_")): value
        for name, value in settings.items()
    }
    return {**tests, "TRAPLINE_TEST_NATS_SERVER": str(nats.PROGRAM)}


def obey(services: dict[str, Service]) -> None:
    for line in sys.stdin:
        verb, _, name = line.strip().partition(" ")
        try:
            if name not in services:
                raise Failure(f"there is no {name!r}, only {', '.join(services)}")
            order(verb, services[name])
            say({"done": line.strip(), "pid": services[name].pid()})
        except Failure as failure:
            say({"error": str(failure)})


def order(verb: str, service: Service) -> None:
    match verb:
        case "kill":
            service.kill()
        case "stop":
            service.pause()
        case "cont":
            service.resume()
        case "start":
            start_all([service])
        case _:
            raise Failure(f"{verb!r} is none of kill, stop, cont, start")


def archive() -> None:
    """Keeps the classes that a Cassandra node loads in a form that is quicker to load."""
    (folder, litter), subnet = make_folder(None), Subnet()
    made = folder / "classes.jsa"
    [node] = cql.cluster(folder, subnet.ips(11, 1))
    node.archive = made
    with running([node], litter):
        node.finish()
        if not made.exists():
            raise Failure(f"no archive was made:\n{node.log_tail()}")
        # One name or the other, never half a file.
        half = cql.ARCHIVE.with_suffix(".half")
        shutil.copyfile(made, half)
        half.replace(cql.ARCHIVE)


def say(answer: object) -> None:
    print(json.dumps(answer), flush=True)


def stop(number: int, _: object) -> None:
    raise Stopped(signal.Signals(number).name)


def ignore_signals() -> None:
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    which(commands.add_parser("up", help="run services until told to stop"))
    work = commands.add_parser("exec", help="run services for one command")
    which(work)
    work.add_argument("work", nargs=argparse.REMAINDER, help="the command and its arguments")
    commands.add_parser("archive", help="make Cassandra quicker to start; once, by setup.sh")
    return parser.parse_args()


def which(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, help="for their data; default: a new one in /tmp")
    for name, counts in [("cassandra", (0, 1, 3)), ("nats", (0, 1, 3)), ("redis", (0, 1))]:
        text = "how many; default: 1"
        parser.add_argument(f"--{name}", type=int, choices=counts, default=1, help=text)
    parser.add_argument(
        "--cluster-redis", dest="redis", action="store_const", const=3, help="three, as a cluster"
    )
    parser.add_argument("--s3", type=int, choices=(0, 1), default=1, help="how many; default: 1")
    parser.add_argument("--spam-engines", action="store_true", help="spamd and rspamd too")


def main() -> int:
    options = arguments()
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        if options.command == "up":
            up(options)
        elif options.command == "exec":
            return execute(options)
        else:
            archive()
    except Stopped as reason:
        print(f"tests/services/run.py: stopped by {reason}", file=sys.stderr)
    except (Failure, OSError, subprocess.TimeoutExpired) as failure:
        print(f"tests/services/run.py: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
