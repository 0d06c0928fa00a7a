"""From the 250 of an SMTP process to the answer of an API process, as for one process."""

import statistics

from ..cluster import Cluster, Services
from ..groups.live import Stream, Wait, delays
from ..plan import Plan


def measure(plan: Plan, services: Services) -> dict:
    times = plan.pick(300, 40)
    with Cluster(services=services) as cluster:
        inbox = cluster.inboxes(1)[0]
        ways = {"wait": Wait, "sse": Stream}
        return {"times": times} | {
            way: summary(delays(cluster, inbox, listen, times)) for way, listen in ways.items()
        }


def summary(took: list[float]) -> dict:
    return {"p50": statistics.median(took), "p99": statistics.quantiles(took, n=100)[98]}
