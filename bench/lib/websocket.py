"""Just enough of a WebSocket client (RFC 6455) to receive events."""

import base64
import os
import socket
import struct

from .rest import Failed


class WebSocket:
    def __init__(self, port: int, path: str, timeout: float = 60) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
            f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        self._unread = b""
        while b"\r\n\r\n" not in self._unread:
            data = self.socket.recv(4096)
            if not data:
                raise Failed("the server closed the connection")
            self._unread += data
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101"):
            raise Failed(f"no websocket: {head[:200]!r}")

    def close(self) -> None:
        self.socket.close()

    def feed(self, data: bytes) -> list[bytes]:
        """Payloads of the frames that are whole now. A server's frames are not masked."""
        self._unread += data
        payloads = []
        while (frame := self._next_frame()) is not None:
            opcode, payload = frame
            if opcode == 0x9:
                self._pong(payload)
            elif opcode == 0x8:
                raise Failed("the server closed the websocket")
            else:
                payloads.append(payload)
        return payloads

    def _next_frame(self) -> tuple[int, bytes] | None:
        if len(self._unread) < 2:
            return None
        opcode, length, start = self._unread[0] & 0x0F, self._unread[1] & 0x7F, 2
        if length >= 126:
            form, size = ("!H", 2) if length == 126 else ("!Q", 8)
            if len(self._unread) < 2 + size:
                return None
            (length,), start = struct.unpack(form, self._unread[2 : 2 + size]), 2 + size
        if len(self._unread) < start + length:
            return None
        payload = self._unread[start : start + length]
        self._unread = self._unread[start + length :]
        return opcode, payload

    def _pong(self, payload: bytes) -> None:
        """A ping has at most 125 bytes; the mask may be zero."""
        self.socket.sendall(bytes([0x8A, 0x80 | len(payload)]) + bytes(4) + payload)
