"""Webhooks as a measurement uses them: made on a server, and mails whose calls are timed."""

import datetime
import secrets
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager

from .arrival import receive, stamp
from .mail import Sender
from .rest import Failed, Http, query
from .servers import Inbox, Mailpit, Server, Trapline
from .sink import Arrival, Sink

# Mailpit makes at most one call in so many seconds and drops the others; 0 is no limit.
UNLIMITED = 0
# The most deliveries that the log lists.
LISTED = 200


class HookedMailpit(Mailpit):
    """Calls one webhook, which only its command line can name; by default once a second."""

    def __init__(self, url: str, limit: int | None = None) -> None:
        super().__init__()
        self.options = ["--webhook-url", url]
        if limit is not None:
            self.options += ["--webhook-limit", str(limit)]

    def command(self) -> list[str]:
        return [*super().command(), *self.options]


@contextmanager
def hooked(name: str, sink: Sink, limit: int | None = None) -> Iterator[Server]:
    """A new server that calls one endpoint, which answers 200."""
    url = sink.url("/200/hook")
    if name == "mailpit":
        with HookedMailpit(url, limit) as server:
            yield server
    else:
        with Trapline() as server:
            create(server, url)
            yield server


def create(server: Server, url: str, inbox: Inbox | None = None) -> str:
    """Makes a webhook, for all inboxes if none is named; its id."""
    body = {"url": url} | ({"inboxId": inbox.id} if inbox else {})
    with closing(server.http()) as http:
        return http.json("POST", "/api/webhooks", body)["id"]


def next_attempts(http: Http, webhook: str) -> dict[str, int]:
    """When the latest deliveries are to be tried again, in ns since 1970, by their ids."""
    path = query(f"/api/webhooks/{webhook}/deliveries", limit=LISTED)
    found = {}
    for delivery in http.json("GET", path):
        if due := delivery.get("nextAttemptAt"):
            found[delivery["id"]] = round(datetime.datetime.fromisoformat(due).timestamp() * 1e9)
    return found


def send(
    server: Server, inbox: Inbox, count: int, per_second: float, senders: int = 1
) -> dict[str, int]:
    """Sends mails at a pace, over as many connections; when each had its 250, by subject."""
    accepted: dict[str, int] = {}
    faults: list[Exception] = []

    def run(first: int) -> None:
        try:
            with closing(Sender(server.smtp_port, inbox.address)) as sender:
                stamp(sender.socket)
                for number in range(first, count, senders):
                    sleep_until(begun + number / per_second)
                    subject = f"token{secrets.token_hex(8)}"
                    accepted[subject] = accept(sender, subject)
        except Exception as fault:
            faults.append(fault)

    begun = time.monotonic()
    threads = [threading.Thread(target=run, args=(first,)) for first in range(senders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return accepted


def sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def accept(sender: Sender, subject: str) -> int:
    """Sends one mail; the time of its 250, by the kernel's clock."""
    sender.socket.sendall(sender.prepare(subject))
    reply, at = b"", 0
    while not reply.endswith(b"\r\n"):
        data, at = receive(sender.socket)
        reply += data
    if not reply.startswith(b"250"):
        raise Failed(f"not accepted: {reply!r}")
    return at


def delays(accepted: dict[str, int], arrivals: Iterable[Arrival]) -> list[float]:
    """Milliseconds from the 250 to the first call of each endpoint, for these mails."""
    first: dict[tuple[str, str], int] = {}
    for arrival in arrivals:
        if arrival.subject in accepted:
            first.setdefault((arrival.path, arrival.subject), arrival.at)
    return [(at - accepted[subject]) / 1e6 for (_, subject), at in first.items()]
