"""Inboxes of one team: made and deleted by 64 clients, and a list of 10,000 of them."""

import contextlib
import statistics
import threading
import time

from ..cluster import Cluster, Services
from ..groups.inboxes import create
from ..groups.lists import times
from ..page import number
from ..plan import Plan
from ..rest import Failed, Http
from ..rows import at_most, no_less
from .throughput import cpu

CLIENTS = 64
# Counts of messages are kept for a minute.
FORGOTTEN_SECONDS = 70
# What an inbox held is removed ten seconds after it.
PURGED_SECONDS = 15
RATE, WARM, COLD = no_less(500, "pairs/s"), at_most(300, "ms"), at_most(2_000, "ms")


def measure(plan: Plan, services: Services) -> dict:
    listed, seconds = plan.pick(10_000, 500), plan.pick(20, 3)
    with Cluster(api=2, services=services) as cluster:
        pairs(cluster, 2)  # the first ones find caches empty
        before = cpu(cluster), cluster.operations()
        rates = [pairs(cluster, seconds) for _ in range(plan.rounds)]
        time.sleep(PURGED_SECONDS)
        spent = costs(cluster, *before, made=sum(rates) * seconds)
        create(cluster, listed, {"name": "Listed"})
        time.sleep(FORGOTTEN_SECONDS)
        # A process that was not asked for anything yet.
        with contextlib.ExitStack() as stack:
            stack.enter_context(second(cluster))
            first, *others = times(cluster, listed, 21)
    return {
        "clients": CLIENTS,
        "listed": listed,
        "pairsPerSecond": statistics.median(rates),
        **spent,
        "coldMs": first,
        "warmMs": statistics.median(others),
    }


@contextlib.contextmanager
def second(cluster: Cluster):
    """Has the second process of the API asked, instead of the first."""
    nodes = cluster.nodes("api")
    nodes.reverse()
    try:
        yield
    finally:
        nodes.reverse()


def costs(cluster: Cluster, cpu_before: dict, asked: dict, made: float) -> dict:
    """CPU in ms and operations of CQL for each pair, with the removal of what the inbox held."""
    spent = {name: (late - cpu_before[name]) / made for name, late in cpu(cluster).items()}
    operations = {
        f"{backend} {name}": (count - asked.get((backend, name), 0)) / made
        for (backend, name), count in cluster.operations().items()
        if backend == "cql"
    }
    return {"cpu": spent, "operations": operations}


def pairs(cluster: Cluster, seconds: float) -> float:
    """Inboxes made and deleted a second, one after another by each client."""
    deadline = time.monotonic() + seconds
    counts, failures = [0] * CLIENTS, []

    def client(place: int) -> None:
        try:
            with contextlib.closing(cluster.http()) as http:
                while time.monotonic() < deadline:
                    pair(http)
                    counts[place] += 1
        except (OSError, Failed) as error:
            failures.append(error)

    threads = [threading.Thread(target=client, args=(place,)) for place in range(CLIENTS)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise Failed(f"{len(failures)} of {CLIENTS} clients failed: {failures[0]}")
    return sum(counts) / (time.monotonic() - begun)


def pair(http: Http) -> None:
    inbox = http.json("POST", "/api/inboxes", {"name": "Churn"})
    answer = http.exchange(http.bytes_of("DELETE", f"/api/inboxes/{inbox['id']}"))
    if answer.status != 204:
        raise Failed(f"DELETE an inbox: {answer.status}")


def told(values: dict) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in values.items() if value >= 0.01)


def table(part: dict) -> list[str]:
    met = lambda target, value: "yes" if target.met(value, None) else "**no**"
    rows = [
        (f"created and deleted a second, {part['clients']} clients", "pairsPerSecond", RATE, ""),
        (f"list of {part['listed']:,}, by a process that was not asked before", "coldMs", COLD, " ms"),
        ("the same again, p50", "warmMs", WARM, " ms"),
    ]
    return [
        "### Inboxes of one team",
        "",
        "| | value | to reach | reached |",
        "|---|--:|--:|--:|",
        *(
            f"| {what} | {number(part[key])}{unit} | {target.text} | {met(target, part[key])} |"
            for what, key, target, unit in rows
        ),
        "",
        f"Each pair took CPU, in ms: {told(part['cpu'])}; and of CQL: {told(part['operations'])}.",
    ]
