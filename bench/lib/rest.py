"""A small HTTP/1.1 client over one kept connection, so that what is timed is the server."""

import json
import socket
from urllib.parse import urlencode

READ = 256 * 1024


class Failed(Exception):
    """The server did not answer as it should."""


class Answer:
    """A response as it arrives; `feed` says when it is whole."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.cookies: list[str] = []
        self.body = b""
        self._unread = b""
        self._has_head = False

    def feed(self, data: bytes) -> bool:
        self._unread += data
        if not self._has_head and not self._read_head():
            return False
        if self.headers.get("transfer-encoding") == "chunked":
            return self._read_chunks()
        self.body = self._unread
        return len(self.body) >= int(self.headers.get("content-length", 0))

    def _read_head(self) -> bool:
        head, end, rest = self._unread.partition(b"\r\n\r\n")
        if not end:
            return False
        first, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(first.split()[1])
        pairs = [line.split(":", 1) for line in lines]
        self.cookies = [value.strip() for name, value in pairs if name.lower() == "set-cookie"]
        self.headers = {name.lower(): value.strip() for name, value in pairs}
        self._unread, self._has_head = rest, True
        return True

    def _read_chunks(self) -> bool:
        while True:
            size, end, rest = self._unread.partition(b"\r\n")
            length = int(size, 16) if end else 0
            if not end or len(rest) < length + 2:
                return False
            self.body += rest[:length]
            self._unread = rest[length + 2 :]
            if length == 0:
                return True


class Http:
    """One connection to a server on this machine."""

    def __init__(self, port: int, token: str | None = None, timeout: float = 60) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._common = f"Host: 127.0.0.1:{port}\r\n"
        if token:
            self._common += f"Authorization: Bearer {token}\r\n"

    def close(self) -> None:
        self.socket.close()

    def bytes_of(self, method: str, path: str, body: object = None, headers: str = "") -> bytes:
        content = b"" if body is None else json.dumps(body).encode()
        if content:
            headers += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        return f"{method} {path} HTTP/1.1\r\n{self._common}{headers}\r\n".encode() + content

    def exchange(self, request: bytes) -> Answer:
        self.socket.sendall(request)
        return self.answer()

    def answer(self) -> Answer:
        answer = Answer()
        while True:
            data = self.socket.recv(READ)
            if not data:
                raise Failed("the server closed the connection")
            if answer.feed(data):
                return answer

    def json(self, method: str, path: str, body: object = None) -> object:
        answer = self.exchange(self.bytes_of(method, path, body))
        if answer.status >= 300:
            raise Failed(f"{method} {path}: {answer.status} {answer.body[:300]!r}")
        return json.loads(answer.body) if answer.body else None


def query(path: str, **parameters: object) -> str:
    return f"{path}?{urlencode(parameters)}"
