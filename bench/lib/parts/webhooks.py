"""Webhooks of a cluster: from the 250 of an SMTP process to the endpoint that a worker calls, and
deliveries a second of one worker process."""

from ..blast import blast, recipients, whole
from ..cluster import Cluster, Services
from ..hooks import create, delays, send
from ..page import number
from ..plan import Plan
from ..rows import at_most, no_less
from ..sink import Sink, quantiles

ENDPOINTS = 10
INBOXES = 64
LIMIT = 300
LATENCY, RATE = at_most(50, "ms"), no_less(3000, "per s")


def measure(plan: Plan, services: Services) -> dict:
    times, mails = plan.pick(300, 40), plan.pick(2_000, 200)
    with Cluster(services=services) as cluster:
        return {"times": times, "mails": mails, "endpoints": ENDPOINTS} | {
            "latency": latency(cluster, times),
            "perSecond": backlog(cluster, mails),
        }


def latency(cluster: Cluster, times: int) -> dict:
    """Mails one at a time; the first few find connections and caches empty and do not count."""
    with Sink() as sink:
        inbox = cluster.inboxes(1)[0]
        create(cluster, sink.url("/200/hook"), inbox)
        warm = send(cluster, inbox, 5, per_second=2)
        accepted = send(cluster, inbox, times, per_second=20)
        sink.wait_distinct(len(warm) + times, LIMIT)
        p50, p99 = quantiles(delays(accepted, sink.arrivals()))
        return {"p50": p50, "p99": p99}


def backlog(cluster: Cluster, mails: int) -> float:
    """Deliveries a second when every mail is for ten endpoints, each a host of its own."""
    with Sink(hosts=ENDPOINTS) as sink:
        inboxes = cluster.inboxes(INBOXES)
        for host in range(ENDPOINTS):
            create(cluster, sink.url(f"/200/{host}", host))
        edge = cluster.nodes("smtp")[0]
        options = ["--messages", mails, "--connections", 16, "--settle", 0]
        whole(blast(edge, *recipients(edge, inboxes), *options), mails)
        stats = sink.wait_distinct(mails * ENDPOINTS, LIMIT)
        return (stats["distinct"] - 1) / ((stats["last"] - stats["first"]) / 1e9)


def table(part: dict) -> list[str]:
    found, rate = part["latency"], part["perSecond"]
    met = lambda target, value: "yes" if target.met(value, None) else "**no**"
    hosts = f"{part['mails']:,} mails to each of {part['endpoints']} endpoints"
    return [
        "### Webhooks, one process of each role",
        "",
        "| | value | to reach | reached |",
        "|---|--:|--:|--:|",
        f"| 250 to the endpoint, p50, {part['times']} times | {number(found['p50'])} ms | – | – |",
        f"| 250 to the endpoint, p99 | {number(found['p99'])} ms | {LATENCY.text} "
        f"| {met(LATENCY, found['p99'])} |",
        f"| deliveries a second, {hosts} | {number(rate)} | {RATE.text} | {met(RATE, rate)} |",
    ]
