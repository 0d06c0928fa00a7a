"""A server that refuses at once, whatever it is asked: what an attack costs while it hits nothing."""

import asyncio
import multiprocessing
import time

from .rest import Failed
from .servers import free_port

REFUSED = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\n{}"


class HttpSide(asyncio.Protocol):
    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.transport.write(REFUSED * data.count(b"\r\n\r\n"))


class SmtpSide(asyncio.Protocol):
    """Takes every command, and every message without a look at it."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport, self.in_message, self.tail = transport, False, b""
        transport.write(b"220 refusing\r\n")

    def data_received(self, data: bytes) -> None:
        text = self.tail + data
        if self.in_message:
            self.in_message = b"\r\n.\r\n" not in text
            self.tail = text[-4:]
            if not self.in_message:
                self.tail = b""
                self.transport.write(b"250 taken 0\r\n")
            return
        *lines, self.tail = text.split(b"\r\n")
        for line in lines:
            self.in_message = line == b"DATA"
            replies = {b"DATA": b"354 go on\r\n", b"AUTH": b"535 no\r\n"}
            self.transport.write(replies.get(line[:4], b"250 good\r\n"))


async def serve(http_port: int, smtp_port: int) -> None:
    loop = asyncio.get_running_loop()
    await loop.create_server(HttpSide, "127.0.0.1", http_port, backlog=4096)
    await loop.create_server(SmtpSide, "127.0.0.1", smtp_port, backlog=4096)
    await asyncio.Event().wait()


def run(http_port: int, smtp_port: int) -> None:
    asyncio.run(serve(http_port, smtp_port))


class Refusing:
    """Such a server in a process of its own; a context manager."""

    refuses = True
    token = "tl_none"

    def __enter__(self) -> "Refusing":
        self.http_port, self.smtp_port = free_port(), free_port()
        ports = (self.http_port, self.smtp_port)
        self.process = multiprocessing.Process(target=run, args=ports, daemon=True)
        self.process.start()
        time.sleep(0.5)
        if not self.process.is_alive():
            raise Failed("the server that refuses did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.join()
