"""Many kept connections that each ask the same again as soon as they were answered."""

import selectors
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .rest import READ, Answer, Failed, Http


class Connection:
    """One of them."""

    def __init__(self, http: Http, request: bytes) -> None:
        self.socket, self.request = http.socket, request

    def ask(self) -> None:
        self.answer = Answer()
        self.socket.sendall(self.request)

    def is_answered(self) -> bool:
        """Reads what has come."""
        got = self.socket.recv(READ)
        if not got:
            raise Failed("the server closed the connection")
        if not self.answer.feed(got):
            return False
        if self.answer.status >= 300:
            raise Failed(f"{self.answer.status} {self.answer.body[:300]!r}")
        return True


class Connections:
    """All of them."""

    def __init__(self, connections: list[Connection]) -> None:
        self.connections, self.selector = connections, selectors.DefaultSelector()
        for connection in connections:
            self.selector.register(connection.socket, selectors.EVENT_READ, connection)

    def run(self, seconds: float) -> tuple[int, float]:
        """How many requests were answered, and in how many seconds: those that are under way at the end are awaited."""
        begun = time.monotonic()
        until, answered, under_way = begun + seconds, 0, len(self.connections)
        for connection in self.connections:
            connection.ask()
        while under_way > 0:
            for key, _ in self.selector.select(timeout=60):
                if not key.data.is_answered():
                    continue
                answered += 1
                if time.monotonic() < until:
                    key.data.ask()
                else:
                    under_way -= 1
        return answered, time.monotonic() - begun


@contextmanager
def connected(port: int, asks: list[tuple[str | None, Callable[[Http], bytes]]]) -> Iterator[Connections]:
    """A connection for each of these: a token, and what makes its request."""
    opened = [(Http(port, token), make) for token, make in asks]
    try:
        yield Connections([Connection(http, make(http)) for http, make in opened])
    finally:
        for http, _ in opened:
            http.close()
