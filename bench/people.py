#!/usr/bin/env python3
"""Measures what people, limits and the status cost one process.

    bench/people.py target/dist/trapline

Prints the server's CPU for a request with a key and with a session, and with limits and a counted plan; for
`GET /api/status` and how often it reads the store; how long mail takes beside sign-ins; and what wrong
passwords cost. smtpblast is that of the `dist` profile.
"""

import collections
import contextlib
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

from lib import build
from lib.load import Load, by_turns, mail_beside
from lib.rest import Answer, Failed, Http
from lib.servers import Trapline
from lib.standalone import measurement
from plans import counted

METRICS_TOKEN = "a-token-for-measuring"
PASSWORD = "correct horse battery staple"
EMAIL = "ada@example.com"
NEVER = 10_000_000


class Served(Trapline):
    """With these variables."""

    def __init__(self, **settings: object) -> None:
        super().__init__("process")
        self.settings = {name: str(value) for name, value in settings.items()}

    def environment(self) -> dict[str, str]:
        return super().environment() | {"METRICS_TOKEN": METRICS_TOKEN} | self.settings

    def reads(self) -> int:
        """Calls that read the store so far."""
        http = Http(self.http_port, METRICS_TOKEN)
        answer = http.exchange(http.bytes_of("GET", "/api/metrics"))
        http.close()
        if answer.status != 200:
            raise Failed(f"the metrics were answered {answer.status}")
        text = answer.body.decode()
        counts = (line for line in text.splitlines() if "backend_call_seconds_count" in line)
        of_store = (line for line in counts if 'backend="store"' in line and '"write"' not in line)
        return sum(int(line.rpartition(" ")[2]) for line in of_store)

    def owner(self) -> str:
        """Makes a person, and returns the cookie of a session."""
        command = [str(build.TRAPLINE_BINARY), "link", "--data", str(self.data)]
        link = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        token = link.partition("?token=")[2].split()[0]
        body = {"token": token, "password": PASSWORD, "email": EMAIL}
        http = Http(self.http_port)
        answer = http.exchange(http.bytes_of("POST", "/api/auth/link", body))
        http.close()
        if answer.status != 200:
            raise Failed(f"the link was answered {answer.status} {answer.body[:300]!r}")
        return cookie_of(answer)


def cookie_of(answer: Answer) -> str:
    """The cookie of the session that an answer begins."""
    return answer.headers["set-cookie"].partition(";")[0]


def main() -> int:
    with measurement(__doc__, rounds=5, requests=10_000, seconds=20) as arguments:
        requests(arguments.rounds, arguments.requests)
        status(arguments.seconds)
        sign_ins(arguments.rounds, arguments.seconds)
        wrong_passwords(arguments.seconds)
    return 0


def cpu(server: Served, asked: list[bytes], times: int) -> float:
    """CPU in ms of a request, of these in turn over one connection."""
    http = Http(server.http_port)
    before = server.usage().cpu_ms
    for number in range(times):
        answer = http.exchange(asked[number % len(asked)])
        if answer.status != 200:
            raise Failed(f"{answer.status} {answer.body[:300]!r}")
    http.close()
    return (server.usage().cpu_ms - before) / times


def requests(rounds: int, times: int) -> None:
    bounded = {
        "TRAPLINE_PLANS": counted(),
        "TRAPLINE_API_RATE": NEVER,
        "TRAPLINE_KEY_RATE": NEVER,
        "TRAPLINE_ADDRESS_RATE": NEVER,
    }
    found = collections.defaultdict(list)
    with Served() as free, Served(**bounded) as limited:
        ways = {}
        for name, server in (("", free), (" with limits and a plan", limited)):
            cookie, http = server.owner(), server.http()
            plain = Http(server.http_port)
            session = plain.bytes_of("GET", "/api/projects", headers=f"Cookie: {cookie}\r\n")
            ways["key" + name] = (server, http.bytes_of("GET", "/api/projects"))
            ways["session" + name] = (server, session)
            plain.close()
            http.close()
        for number in range(rounds + 1):
            for name in by_turns(list(ways), number):
                server, request = ways[name]
                spent = cpu(server, [request], times)
                if number > 0:
                    found[name].append(spent)
    for name, spent in found.items():
        print(f"CPU a request, {name}: {statistics.median(spent):.4f} ms ({min(spent):.4f} to {max(spent):.4f})", flush=True)


def status(seconds: int) -> None:
    with Served() as server:
        http = Http(server.http_port)
        request = http.bytes_of("GET", "/api/status")
        http.exchange(request)
        before, reads, began, asked = server.usage().cpu_ms, server.reads(), time.monotonic(), 0
        while time.monotonic() - began < seconds:
            due = began + asked / 1000
            if due > time.monotonic():
                time.sleep(due - time.monotonic())
            http.exchange(request)
            asked += 1
        took = time.monotonic() - began
        spent, reads = server.usage().cpu_ms - before, server.reads() - reads
        http.close()
    print(f"GET /api/status: {asked / took:.0f} a second, {spent / asked:.4f} ms CPU, {reads} reads of the store in {asked} answers", flush=True)


class SignIns(Load):
    """From addresses of this machine, over connections that stay; `made` makes the body of each."""

    def __init__(self, server: Served, threads: int, rate: float, made: Callable[[int, int], dict]) -> None:
        super().__init__(threads, rate)
        self.server, self.made = server, made
        self.statuses, self.slowest, self.lock = collections.Counter(), 0.0, threading.Lock()

    @contextlib.contextmanager
    def worker(self, number: int) -> Iterator[Callable[[int], None]]:
        http = None

        def act(asked: int) -> None:
            nonlocal http
            body = self.made(number, asked)
            sent = time.monotonic()
            try:
                http = http or self.connection(number)
                answer = http.exchange(http.bytes_of("POST", "/api/auth/sign-in", body)).status
            except (OSError, Failed) as error:
                answer, http = type(error).__name__, None
            with self.lock:
                self.statuses[answer] += 1
                self.slowest = max(self.slowest, time.monotonic() - sent)

        yield act

    def connection(self, number: int) -> Http:
        http = Http(self.server.http_port)
        http.socket.close()
        source = (f"127.0.{number // 200}.{number % 200 + 2}", 0)
        http.socket = socket.create_connection(("127.0.0.1", self.server.http_port), 30, source)
        return http


def sign_ins(rounds: int, seconds: int) -> None:
    """100 sign-ins a second of somebody, beside mail, by turns with mail alone."""
    somebody = {"email": EMAIL, "password": PASSWORD}

    def load(server: Served) -> SignIns:
        server.owner()
        return SignIns(server, 100, 100, lambda *_: somebody)

    for rate in (2000, 500):
        told, loads = mail_beside(lambda: Served(TRAPLINE_SIGN_IN_RATE=0), load, rate, rounds, seconds)
        statuses = sum((load.statuses for load in loads), collections.Counter())
        slowest = max(load.slowest for load in loads)
        print(
            f"mail at {rate} a second beside 100 sign-ins a second: {told};"
            f" answers {dict(statuses)}, the slowest {slowest:.1f} s",
            flush=True,
        )


def wrong_passwords(seconds: int) -> None:
    """1,667 a second, so 100,000 in a minute; the real person comes from another address."""
    kinds = {
        "one account from one address": (1, lambda *_: EMAIL),
        "one account from 100 addresses": (100, lambda *_: EMAIL),
        "many accounts from 100 addresses": (100, lambda thread, number: f"a{thread}-{number}@example.com"),
    }
    for name, (threads, email) in kinds.items():
        with Served() as server:
            server.owner()
            made = lambda thread, number: {"email": email(thread, number), "password": "wrong password"}
            before, began = server.usage().cpu_ms, time.monotonic()
            with SignIns(server, threads, 1667, made) as load:
                time.sleep(seconds)
                http = load.connection(1000)
                real = http.bytes_of("POST", "/api/auth/sign-in", {"email": EMAIL, "password": PASSWORD})
                begun = time.monotonic()
                statuses = [http.exchange(real).status]
                while statuses[-1] == 429 and len(statuses) < 10:
                    time.sleep(1)
                    statuses.append(http.exchange(real).status)
                took = time.monotonic() - begun
                http.close()
            asked, lasted = sum(load.statuses.values()), time.monotonic() - began
            cores = (server.usage().cpu_ms - before) / 1000 / lasted
        print(
            f"wrong passwords, {name}: {asked / lasted:.0f} a second, {dict(load.statuses)}, {cores:.2f} cores;"
            f" the real person: {statuses} in {took:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
