"""100,000 disposable inboxes: made over kept connections, left alone, then let expire."""

import datetime
import json
import time

from ..cluster import Cluster
from ..plan import Plan
from ..rest import Failed, Http
from ..rows import Results
from ..servers import Server, Trapline

CONNECTIONS = 64
# The server counts as quiet when it used less CPU than this in each of as many looks.
QUIET_MS, LOOKS, LOOK_SECONDS = 20, 4, 2
SAMPLE = 997


def measure(plan: Plan, results: Results) -> None:
    """Once: an inbox lives for whole minutes."""
    if "trapline" not in plan.systems:
        return
    count, minutes = plan.pick(100_000, 5_000), plan.pick(4, 1)
    with Trapline() as server:
        start = server.usage()
        begun = time.monotonic()
        made = create(server, count, {"name": "Disposable", "expiresInMinutes": minutes})
        seconds = time.monotonic() - begun
        time.sleep(1)
        created = server.usage()
        results.add("create", "trapline", (created.cpu_ms - start.cpu_ms) / count)
        first, last = (expiry(made[at]) for at in (0, -1))
        live(server, first, results)
        living = server.usage()
        sleep_until(last + 0.01)
        check_gone(server, made)
        await_quiet(server)
        ended = server.usage()
        results.add("expire", "trapline", (ended.cpu_ms - living.cpu_ms) / count)
        sizes = {"rssCreatedMb": created.rss_mb, "rssExpiredMb": ended.rss_mb}
        results.note("inboxes", "trapline", perSecond=count / seconds, **sizes)


def create(server: Server | Cluster, count: int, body: dict) -> list[dict]:
    """Requests go out on all connections before the first answer is read."""
    https = [server.http() for _ in range(min(count, CONNECTIONS))]
    made = []
    while len(made) < count:
        batch = https[: count - len(made)]
        for http in batch:
            http.socket.sendall(http.bytes_of("POST", "/api/inboxes", body))
        made += [inbox_of(http) for http in batch]
    for http in https:
        http.close()
    return made


def inbox_of(http: Http) -> dict:
    """What is needed of an inbox, which is little, since there are many."""
    answer = http.answer()
    if answer.status != 201:
        raise Failed(f"POST /api/inboxes: {answer.status} {answer.body[:200]!r}")
    inbox = json.loads(answer.body)
    return {key: inbox[key] for key in ("id", "address", "expiresAt")}


def expiry(inbox: dict) -> float:
    return datetime.datetime.fromisoformat(inbox["expiresAt"]).timestamp()


def sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.time()))


def live(server: Server, first_expiry: float, results: Results) -> None:
    """CPU per second while all live, where enough time is left to see it."""
    before, begun = server.usage(), time.time()
    sleep_until(first_expiry - 1)
    seconds = time.time() - begun
    if seconds >= 5:
        results.add("living", "trapline", (server.usage().cpu_ms - before.cpu_ms) / seconds)


def check_gone(server: Server, made: list[dict]) -> None:
    """Right after the last moment none is served, whether or not it was removed from disk."""
    http = server.http()
    for inbox in made[::SAMPLE] + made[-1:]:
        answer = http.exchange(http.bytes_of("GET", f"/api/inboxes/{inbox['id']}"))
        if answer.status != 404:
            raise Failed(f"an expired inbox answered {answer.status}")
    if len(http.json("GET", "/api/inboxes")) > 1:
        raise Failed("expired inboxes are listed")
    http.close()


def await_quiet(server: Server, limit: float = 300) -> None:
    """Until removal is over, seen from the CPU that is used."""
    quiet, deadline = 0, time.monotonic() + limit
    while quiet < LOOKS and time.monotonic() < deadline:
        before = server.usage().cpu_ms
        time.sleep(LOOK_SECONDS)
        quiet = quiet + 1 if server.usage().cpu_ms - before < QUIET_MS else 0
