"""From the 250 to whoever waits: one process sees both arrive, by the kernel's one clock.

Negative times are real: the answer came before the 250. Mailpit has no waiting request; its
websocket stands beside both of Trapline's ways.
"""

import secrets
import select
import statistics
import time

from ..arrival import receive, stamp
from ..mail import Sender
from ..plan import Plan
from ..rest import Answer, Failed, query
from ..rows import Results
from ..servers import SYSTEMS, Inbox, Server
from ..websocket import WebSocket

LIMIT = 30
# Time for a wait to be parked, so that it is woken and does not find the message stored.
PARK = 0.02


def measure(plan: Plan, results: Results) -> None:
    times = plan.pick(300, 40)
    for name in plan.rounds_of(plan.systems):
        with SYSTEMS[name]() as server:
            inbox = server.inboxes(1)[0]
            for way, listen in WAYS[name].items():
                took = delays(server, inbox, listen, times)
                for row in (way,) if way != "websocket" else ("wait", "sse"):
                    keep(results, row, name, took)
                results.note("live", name, way=way, maxMs=max(took), minMs=min(took))


def keep(results: Results, row: str, name: str, took: list[float]) -> None:
    results.add(f"{row}-p50", name, statistics.median(took))
    results.add(f"{row}-p99", name, statistics.quantiles(took, n=100)[98])


def delays(server: Server, inbox: Inbox, listen: type, times: int) -> list[float]:
    sender = Sender(server.smtp_port, inbox.address)
    listener = listen(server, inbox)
    stamp(sender.socket)
    stamp(listener.socket)
    took = []
    for _ in range(times):
        subject = f"token{secrets.token_hex(8)}"
        listener.expect(subject)
        time.sleep(PARK)
        took.append(delay(sender, listener, subject))
    listener.close()
    sender.close()
    return took


def delay(sender: Sender, listener: "Listener", subject: str) -> float:
    """Milliseconds from the 250 to the whole answer."""
    content = sender.prepare(subject)
    sender.socket.sendall(content)
    accepted, answered, reply = None, None, b""
    while accepted is None or answered is None:
        ready, _, _ = select.select([sender.socket, listener.socket], [], [], LIMIT)
        if not ready:
            raise Failed(f"no answer in {LIMIT} s")
        if listener.socket in ready:
            data, at = receive(listener.socket)
            if answered is None and listener.is_answered(data):
                answered = at
        if sender.socket in ready:
            data, at = receive(sender.socket)
            reply += data
            accepted = at if reply.endswith(b"\r\n") else None
    if not reply.startswith(b"250"):
        raise Failed(f"not accepted: {reply!r}")
    return (answered - accepted) / 1e6


class Listener:
    """Something that is told of a message."""

    def __init__(self, server: Server, inbox: Inbox) -> None:
        raise NotImplementedError

    def expect(self, subject: str) -> None:
        self.subject = subject.encode()

    def is_answered(self, data: bytes) -> bool:
        """Whether the answer is whole with these bytes."""
        raise NotImplementedError

    def close(self) -> None:
        self.socket.close()


class Wait(Listener):
    def __init__(self, server: Server, inbox: Inbox) -> None:
        self.http, self.inbox = server.http(), inbox
        self.socket = self.http.socket

    def expect(self, subject: str) -> None:
        super().expect(subject)
        path = f"/api/inboxes/{self.inbox.id}/messages/wait"
        wait = query(path, subject=subject, timeout=LIMIT)
        self.socket.sendall(self.http.bytes_of("GET", wait))
        self.answer = Answer()

    def is_answered(self, data: bytes) -> bool:
        if not self.answer.feed(data):
            return False
        if self.answer.status != 200 or self.subject not in self.answer.body:
            raise Failed(f"wait: {self.answer.status} {self.answer.body[:200]!r}")
        return True


class Stream(Listener):
    """Server-sent events; the transfer's chunk marks do not matter to a search for the subject."""

    def __init__(self, server: Server, inbox: Inbox) -> None:
        self.http = server.http()
        self.socket, self.unread = self.http.socket, b""
        path = f"/api/inboxes/{inbox.id}/events"
        self.socket.sendall(self.http.bytes_of("GET", path, headers="Accept: text/event-stream\r\n"))
        while b"\r\n\r\n" not in self.unread:
            self.unread += receive(self.socket)[0]
        if not self.unread.startswith(b"HTTP/1.1 200"):
            raise Failed(f"events: {self.unread[:200]!r}")

    def expect(self, subject: str) -> None:
        super().expect(subject)
        self.unread = b""

    def is_answered(self, data: bytes) -> bool:
        self.unread += data
        _, found, after = self.unread.partition(self.subject)
        return bool(found) and b"\n\n" in after


class Events(Listener):
    """Mailpit's websocket."""

    def __init__(self, server: Server, _inbox: Inbox) -> None:
        self.websocket = WebSocket(server.http_port, "/api/events")
        self.socket = self.websocket.socket

    def is_answered(self, data: bytes) -> bool:
        payloads = self.websocket.feed(data)
        return any(self.subject in payload for payload in payloads)


WAYS = {"mailpit": {"websocket": Events}, "trapline": {"wait": Wait, "sse": Stream}}
