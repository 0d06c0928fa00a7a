"""The list of 10,000 inboxes of a team: right after a start, and again and again."""

import json
import statistics
import time

from ..cluster import Cluster
from ..plan import Plan
from ..rest import Failed
from ..rows import Results
from ..servers import Server, Trapline
from .inboxes import create

PATH = "/api/inboxes"


def measure(plan: Plan, results: Results) -> None:
    """Once, since there is one first list after a start."""
    if "trapline" not in plan.systems:
        return
    count = plan.pick(10_000, 1_000)
    with Trapline() as server:
        create(server, count, {"name": "Listed"})
        server.stop()
        with server:
            first, *others = times(server, count, 1 + plan.pick(20, 3))
    results.add("list-inboxes-cold", "trapline", first)
    results.add("list-inboxes", "trapline", statistics.median(others))


def times(server: Server | Cluster, count: int, repeats: int) -> list[float]:
    """How many ms each of as many lists took, from the request to the last byte."""
    http = server.http()
    took = []
    for _ in range(repeats):
        request = http.bytes_of("GET", PATH)
        begun = time.perf_counter()
        answer = http.exchange(request)
        took.append((time.perf_counter() - begun) * 1000)
        if answer.status != 200 or len(json.loads(answer.body)) < count:
            raise Failed(f"GET {PATH}: {answer.status} {answer.body[:200]!r}")
    http.close()
    return took
