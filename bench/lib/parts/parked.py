"""10,000 parked waits and 10,000 event streams over two API processes, and what wakes them.

The clients of each API process are in a process of their own, so that nobody needs more than a few
thousand file descriptors above their number.
"""

import multiprocessing
import time
from multiprocessing.connection import Connection

from ..arrival import receive
from ..blast import blast, recipients, whole
from ..cluster import Cluster, Node, Services
from ..groups.live import Stream
from ..groups.waits import answers, park
from ..plan import Plan
from ..rest import Failed, Http
from ..servers import Inbox

API = 2
# A stream looks into the store every 30 seconds, whatever it hears; a wait every 20.
HOLD = 30
SUBJECT = "wake"
LIMIT = 300


def measure(plan: Plan, services: Services) -> dict:
    each = plan.pick(10_000, 400) // API
    hold = plan.pick(HOLD, 3)
    with Cluster(api=API, services=services) as cluster:
        nodes, inboxes = cluster.nodes("api"), cluster.inboxes(plan.pick(1_000, 100))
        fresh = [node.usage() for node in nodes]
        clients = [Clients(node, inboxes, each) for node in nodes]
        try:
            for each_node in clients:
                each_node.hear()
            seen = idle(cluster, fresh, hold)
            woken = wake(cluster, inboxes, clients, each * API)
        finally:
            for each_node in clients:
                each_node.end()
    return {"waits": each * API, "streams": each * API, "holdSeconds": hold, **seen, **woken}


class Clients:
    """A process that holds as many waits as streams at one API process, over all inboxes."""

    def __init__(self, node: Node, inboxes: list[Inbox], count: int) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        work = (node, inboxes, count, theirs)
        self._process = multiprocessing.get_context("fork").Process(target=hold_clients, args=work)
        self._process.start()
        theirs.close()

    def hear(self) -> float:
        """The next thing that it tells: that all are parked; when waits, then streams were answered."""
        if not self._pipe.poll(LIMIT):
            raise Failed("the clients are silent")
        try:
            return self._pipe.recv()
        except EOFError as error:
            raise Failed("the clients have failed") from error

    def end(self) -> None:
        self._process.terminate()
        self._process.join()


def hold_clients(node: Node, inboxes: list[Inbox], count: int, pipe: Connection) -> None:
    streams = [Stream(node, inboxes[number % len(inboxes)]) for number in range(count)]
    for stream in streams:
        stream.expect(SUBJECT)
    waits = park(node, inboxes, count)
    pipe.send(time.monotonic())
    answers(waits)
    pipe.send(time.monotonic())
    for stream in streams:
        while not stream.is_answered(receive(stream.socket)[0]):
            pass
    pipe.send(time.monotonic())


def idle(cluster: Cluster, fresh: list, hold: int) -> dict:
    """What parked clients cost while nothing happens, for each API process."""
    time.sleep(5)
    usage = lambda: [node.usage() for node in cluster.nodes("api")]
    before, asked = usage(), cluster.operations()
    time.sleep(hold)
    after, asked_then = usage(), cluster.operations()
    nodes = [
        {
            "freshMb": new.rss_mb,
            "rssMb": late.rss_mb,
            "cpuMsPerSecond": (late.cpu_ms - early.cpu_ms) / hold,
        }
        for new, early, late in zip(fresh, before, after, strict=True)
    ]
    reads = asked_then["cql", "read"] - asked["cql", "read"]
    return {"api": nodes, "readsPerSecond": reads / hold}


def wake(cluster: Cluster, inboxes: list[Inbox], clients: list[Clients], waits: int) -> dict:
    """One message to each inbox; seconds from the last message until the last wait and the last stream
    have theirs, and CPU of the API for one wait and one stream."""
    edge, before = cluster.nodes("smtp")[0], cluster.usage("api").cpu_ms
    options = ["--subject", f"{SUBJECT} {{n}}", "--messages", len(inboxes), "--settle", 0]
    report = whole(blast(edge, *recipients(edge, inboxes), *options), len(inboxes))
    sent = time.monotonic()
    waits_end = max(each.hear() for each in clients)
    all_end = max(waits_end, *(each.hear() for each in clients))
    woken = cluster.usage("api").cpu_ms - before
    return {
        "messages": len(inboxes),
        "perSecond": round(report["acceptedPerSecond"]),
        "waitsSeconds": max(0.0, waits_end - sent),
        "allSeconds": max(0.0, all_end - sent),
        "wakeMs": woken / waits,
    }
