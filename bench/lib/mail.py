"""An SMTP client that tells exactly when the reply came."""

import secrets
import socket


class Sender:
    def __init__(self, port: int, recipient: str) -> None:
        self.recipient = recipient
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self.socket.makefile("rb")
        self._reply(b"220")
        self._command(b"EHLO bench.example", b"250")

    def close(self) -> None:
        self._file.close()
        self.socket.close()

    def prepare(self, subject: str) -> bytes:
        """Everything up to DATA; returns the content, whose reply is 250. About 6 KB of it."""
        self._command(b"MAIL FROM:<bench@bench.example>", b"250")
        self._command(f"RCPT TO:<{self.recipient}>".encode(), b"250")
        self._command(b"DATA", b"354")
        lines = "\r\n".join(secrets.token_hex(36) for _ in range(78))
        return (
            f"From: <bench@bench.example>\r\nTo: <{self.recipient}>\r\nSubject: {subject}\r\n"
            f"Message-ID: <{subject}@bench.example>\r\n\r\n{lines}\r\n.\r\n"
        ).encode()

    def _command(self, line: bytes, code: bytes) -> None:
        self.socket.sendall(line + b"\r\n")
        self._reply(code)

    def _reply(self, code: bytes) -> None:
        while True:
            line = self._file.readline()
            if not line.startswith(code):
                raise ConnectionError(f"expected {code!r}, got {line!r}")
            if line[3:4] != b"-":
                return
