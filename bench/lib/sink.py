"""Runs hooksink, which takes webhooks and tells when each came."""

import json
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import build, machine
from .rest import Failed, Http

POLL = 0.05


@dataclass(frozen=True)
class Arrival:
    """One call: when it was read, in ns since 1970, and what it said."""

    at: int
    path: str
    delivery: str
    subject: str


class Sink:
    """A receiver on as many loopback addresses as there are hosts; a context manager."""

    def __init__(self, hosts: int = 1, retry_after: int | None = None) -> None:
        self.command = [str(build.HOOKSINK_BINARY), "--hosts", str(hosts)]
        if retry_after is not None:
            self.command += ["--retry-after", str(retry_after)]

    def __enter__(self) -> "Sink":
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE)
        self.port = json.loads(self.process.stdout.readline())["port"]
        self.http = Http(self.port)
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        self.process.terminate()
        self.process.communicate()

    def url(self, path: str, host: int = 0) -> str:
        """An endpoint's address; each host is another one on this machine."""
        return f"http://127.0.0.{1 + host}:{self.port}{path}"

    def stats(self) -> dict:
        return self.http.json("GET", "/stats")

    def arrivals(self) -> Iterator[Arrival]:
        """Every call so far, oldest first."""
        text = self.http.exchange(self.http.bytes_of("GET", "/arrivals")).body.decode()
        for line in text.splitlines():
            at, path, delivery, subject = line.split(" ", 3)
            yield Arrival(int(at), path, delivery, subject)

    def usage(self) -> machine.Usage:
        return machine.usage(self.process.pid)

    def wait(self, is_enough: Callable[[dict], bool], seconds: float) -> dict:
        """The first counts that are enough."""
        deadline = time.monotonic() + seconds
        while not is_enough(stats := self.stats()):
            if time.monotonic() > deadline:
                raise Failed(f"the webhooks that came in {seconds:.0f} s: {stats}")
            time.sleep(POLL)
        return stats

    def wait_distinct(self, count: int, seconds: float) -> dict:
        return self.wait(lambda stats: stats["distinct"] >= count, seconds)

    def wait_requests(self, count: int, seconds: float) -> dict:
        return self.wait(lambda stats: stats["requests"] >= count, seconds)

    def settle(self, seconds: float) -> dict:
        """The counts once nothing came for so long."""
        stats = self.stats()
        while True:
            time.sleep(seconds)
            before, stats = stats, self.stats()
            if stats["requests"] == before["requests"]:
                return stats


def quantiles(values: list[float]) -> tuple[float, float]:
    """p50 and p99."""
    return statistics.median(values), statistics.quantiles(values, n=100, method="inclusive")[98]
