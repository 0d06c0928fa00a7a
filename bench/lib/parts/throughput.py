"""Messages a second through one and through two SMTP processes, and whose CPU they take.

The same cluster serves both, by turns: the second process idles while the first has all connections.
"""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor

from ..blast import blast, recipients
from ..cluster import ROLES, Cluster, Node, Services
from ..plan import Plan
from ..rest import Failed
from ..servers import Inbox

CONNECTIONS = 64
INBOXES = 1_000
SETTLE = 2


def measure(plan: Plan, services: Services) -> dict:
    seconds = plan.pick(10, 2)
    runs: dict[int, list[dict]] = {1: [], 2: []}
    with Cluster(smtp=2, services=services) as cluster:
        inboxes = cluster.inboxes(plan.pick(INBOXES, 50))
        load(cluster, inboxes, 2, 2)  # the first messages find caches empty
        for count in plan.rounds_of(runs):
            runs[count].append(load(cluster, inboxes, count, seconds))
    medians = [median(count, found) for count, found in runs.items()]
    return {"connections": CONNECTIONS, "seconds": seconds, "runs": medians}


def load(cluster: Cluster, inboxes: list[Inbox], count: int, seconds: int) -> dict:
    """All connections over the first `count` processes; CPU in ms per message."""
    edges = cluster.nodes("smtp")[:count]
    options = ["--connections", CONNECTIONS // count, "--duration", seconds, "--settle", 0]
    before = cpu(cluster)
    with ThreadPoolExecutor(count) as threads:
        started = [threads.submit(send, edge, inboxes, options) for edge in edges]
        reports = [each.result() for each in started]
    time.sleep(SETTLE)
    after = cpu(cluster)
    accepted = sum(report["accepted"] for report in reports)
    return {
        "perSecond": sum(report["acceptedPerSecond"] for report in reports),
        "p50": max(report["transactionMs"]["p50"] for report in reports),
        "p99": max(report["transactionMs"]["p99"] for report in reports),
        "cpu": {name: (after[name] - before[name]) / accepted for name in after},
    }


def send(edge: Node, inboxes: list[Inbox], options: list[object]) -> dict:
    report = blast(edge, *recipients(edge, inboxes), *options)
    if report["errors"]:
        raise Failed(f"errors: {report['errors']}")
    return report


def cpu(cluster: Cluster) -> dict[str, float]:
    """CPU time of each role and each service in ms."""
    roles = {role: cluster.usage(role).cpu_ms for role in ROLES}
    return roles | cluster.services.cpu_ms()


def median(count: int, runs: list[dict]) -> dict:
    middle = lambda values: statistics.median(list(values))
    return {
        "smtp": count,
        **{name: middle(run[name] for run in runs) for name in ("perSecond", "p50", "p99")},
        "cpu": {name: middle(run["cpu"][name] for run in runs) for name in runs[0]["cpu"]},
    }
