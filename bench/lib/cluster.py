"""Trapline as a cluster on this machine: real services, and processes of each role over them."""

import base64
import contextlib
import itertools
import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence

from . import build, machine
from .rest import Failed, Http
from .servers import STOP_SECONDS, Inbox, Server, api_key, create_inboxes

ROLES = ("api", "smtp", "worker")
OPERATION = re.compile(
    r'^trapline_backend_operations_total\{backend="(\w+)",operation="(\w+)"\} (\d+)$', re.MULTILINE
)
# Each cluster of a run has names of its own in services that it may share with others.
NUMBERS = itertools.count(1)


class Services:
    """Cassandra, NATS, Redis and SeaweedFS, one node each, until the end of the body."""

    def __init__(self) -> None:
        self.environment: dict[str, str] = {}
        self.pids: dict[str, int] = {}

    def __enter__(self) -> "Services":
        build.WORK.mkdir(parents=True, exist_ok=True)
        # A folder beside the build, so that their data is on the disk and not on a tmpfs.
        folder = build.WORK / f"services-{next(NUMBERS)}"
        command = [sys.executable, build.ROOT / "tests/services/run.py", "up", "--folder", folder]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        line = self._process.stdout.readline()
        if not line:
            raise Failed("the services did not start: run tests/setup.sh")
        told = json.loads(line)
        self.environment, self.pids = told["env"], told["pids"]
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(STOP_SECONDS)

    def cpu_ms(self) -> dict[str, float]:
        """CPU time by service, without the number of the node."""
        return {
            name.partition("-")[0]: machine.usage(pid).cpu_ms for name, pid in self.pids.items()
        }


class Node(Server):
    """One process of a role."""

    def __init__(self, role: str, settings: Mapping[str, str], flags: Sequence[str]) -> None:
        self.name = role
        super().__init__()
        self.settings, self.flags = settings, flags
        self.token = settings["TRAPLINE_API_KEY"]

    @property
    def pid(self) -> int:
        return self.process.pid

    def command(self) -> list[str]:
        return [
            *(str(build.TRAPLINE_BINARY), self.name, "--http", f"127.0.0.1:{self.http_port}"),
            *(["--smtp", f"127.0.0.1:{self.smtp_port}"] if self.name == "smtp" else []),
            *self.flags,
        ]

    def environment(self) -> dict[str, str]:
        return dict(self.settings)

    def is_ready(self) -> bool:
        with contextlib.closing(self.http()) as http:
            return http.exchange(http.bytes_of("GET", "/readyz")).status == 200

    def operations(self) -> dict[tuple[str, str], int]:
        """What it has asked of the services so far, by service and operation."""
        with contextlib.closing(Http(self.http_port, self.settings["METRICS_TOKEN"])) as http:
            answer = http.exchange(http.bytes_of("GET", "/api/metrics"))
        if answer.status != 200:
            raise Failed(f"metrics: {answer.status}")
        found = OPERATION.findall(answer.body.decode())
        return {(backend, operation): int(count) for backend, operation, count in found}


class Cluster:
    """As many processes of each role as asked for, over services that are given or its own.

    It has what the measurements of one process use of a `Server`; they speak to the first process.
    """

    def __init__(
        self,
        api: int = 1,
        smtp: int = 1,
        worker: int = 1,
        flags: Mapping[str, Sequence[str]] | None = None,
        services: Services | None = None,
    ) -> None:
        self.counts = {"api": api, "smtp": smtp, "worker": worker}
        self.flags = flags or {}
        self._given = services
        self.token = api_key()
        self._nodes: dict[str, list[Node]] = {role: [] for role in ROLES}

    def __enter__(self) -> "Cluster":
        with contextlib.ExitStack() as stack:
            self.services = self._given or stack.enter_context(Services())
            settings = self._settings()
            migrate(settings)
            for role in ROLES:
                for _ in range(self.counts[role]):
                    node = Node(role, settings, [*FLAGS[role], *self.flags.get(role, ())])
                    self._nodes[role].append(stack.enter_context(node))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _settings(self) -> dict[str, str]:
        """The environment of its processes, untouched by the settings of whoever runs this."""
        own = {name: value for name, value in os.environ.items() if "TRAPLINE_" not in name}
        keyspace = f"bench_{os.getpid()}_{next(NUMBERS)}"
        bucket, _, query = self.services.environment["TRAPLINE_BLOBS"].partition("?")
        return own | self.services.environment | {
            "TRAPLINE_BLOBS": f"{bucket}/{keyspace}?{query}",
            "TRAPLINE_CQL_KEYSPACE": keyspace,
            "TRAPLINE_SECRET_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
            "TRAPLINE_API_KEY": self.token,
            "TRAPLINE_INBOX_RATE": "0",
            "METRICS_TOKEN": secrets.token_hex(16),
        }

    def nodes(self, role: str) -> list[Node]:
        return self._nodes[role]

    @property
    def smtp_port(self) -> int:
        return self.nodes("smtp")[0].smtp_port

    def http(self, index: int = 0) -> Http:
        return self.nodes("api")[index].http()

    def inboxes(self, count: int, max_messages: int = 10_000) -> list[Inbox]:
        with contextlib.closing(self.http()) as http:
            return create_inboxes(http, count, max_messages)

    def usage(self, role: str) -> machine.Usage:
        """The sum over the processes of a role."""
        return machine.total(node.usage() for node in self.nodes(role))

    def operations(self) -> dict[tuple[str, str], int]:
        """What all processes have asked of the services so far."""
        total: dict[tuple[str, str], int] = {}
        for node in (node for role in ROLES for node in self.nodes(role)):
            for operation, count in node.operations().items():
                total[operation] = total.get(operation, 0) + count
        return total


# Without limits of rate, and with receivers of webhooks on this machine.
HERE = ("--webhook-allow-cidrs", "127.0.0.0/8")
FLAGS = {"api": ("--api-rate", "0", *HERE), "smtp": (), "worker": HERE}


def migrate(settings: Mapping[str, str]) -> None:
    command = [str(build.TRAPLINE_BINARY), "migrate"]
    done = subprocess.run(command, env=settings, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"trapline migrate: {done.stderr[-1000:]}")


def versions() -> dict[str, str]:
    """Of the services."""
    tools = build.ROOT / "tests" / ".tools"
    jar = next((tools / "cassandra" / "lib").glob("cassandra-all-*.jar"), None)
    asked = {
        "nats-server": ([tools / "services/bin/nats-server", "--version"], r"v([\d.]+)"),
        "redis": (["redis-server", "--version"], r"v=([\d.]+)"),
        "seaweedfs": ([tools / "services/bin/weed", "version"], r"GB ([\d.]+)"),
    }
    found = {"cassandra": jar.stem.removeprefix("cassandra-all-") if jar else ""}
    for name, (command, pattern) in asked.items():
        told = subprocess.run(command, capture_output=True, text=True).stdout
        match = re.search(pattern, told)
        found[name] = match[1] if match else ""
    return found
