"""A mail server that takes everything, or connections only: the relay of a server under measurement."""

import email
import email.policy
import re
import socketserver
import threading
import time

from .rest import Failed

LETTER_SECONDS = 30


class Relay(socketserver.ThreadingTCPServer):
    """A context manager; `is_silent` decides what becomes of connections made from then on."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Session)
        self.port = self.server_address[1]
        self.is_silent = False
        self.mails: list[tuple[str, bytes]] = []
        self.over = threading.Event()

    def __enter__(self) -> "Relay":
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.shutdown()
        self.server_close()

    def flags(self) -> list[str]:
        """The settings that lead here."""
        host = ["--relay-host", "127.0.0.1", "--relay-port", str(self.port)]
        return [*host, "--relay-tls", "none", "--relay-from", "no-reply@mail.example"]

    def link(self, to: str) -> str:
        """The path of the confirmation link in the letter to an address."""
        deadline = time.monotonic() + LETTER_SECONDS
        while time.monotonic() < deadline:
            for _, message in [mail for mail in self.mails if mail[0] == to]:
                letter = email.message_from_bytes(message, policy=email.policy.default)
                text = letter.get_body(("plain",)).get_content()
                return re.search(r"/api/forward-addresses/confirm\S+", text)[0]
            time.sleep(0.05)
        raise Failed(f"no letter came to {to}")


class Session(socketserver.StreamRequestHandler):
    """As much SMTP as a client that behaves needs."""

    server: Relay

    def handle(self) -> None:
        if self.server.is_silent:
            self.server.over.wait()
            return
        self.say("220 relay")
        to = ""
        while line := self.rfile.readline().decode().rstrip():
            match line[:4].upper():
                case "EHLO":
                    self.say("250-relay\r\n250 8BITMIME")
                case "RCPT":
                    to = line.partition("<")[2].partition(">")[0]
                    self.say("250 OK")
                case "DATA":
                    self.say("354 Go on")
                    self.server.mails.append((to, self.message()))
                    self.say("250 OK")
                case "QUIT":
                    self.say("221 Bye")
                    return
                case _:
                    self.say("250 OK")

    def message(self) -> bytes:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line)
        return b"".join(lines)

    def say(self, reply: str) -> None:
        self.wfile.write(f"{reply}\r\n".encode())
