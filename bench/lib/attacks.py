"""What a stranger may try: each attack goes on by itself, from an address of its own, until it is ended."""

import contextlib
import socket
import time
from collections.abc import Callable

from .rest import Failed, Http
from .servers import Inbox, Trapline

# Nothing here is what others see: those connect from 127.0.0.1.
FROM = "127.0.0.2"
LARGE = 24_000_000
SMALL_PAUSE = 0.01


def connect(port: int) -> socket.socket:
    found = socket.create_connection(("127.0.0.1", port), 60, source_address=(FROM, 0))
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def http(server: Trapline, token: str | None = "") -> Http:
    """A client of the attacker's, with the server's key unless it names another."""
    found = Http.__new__(Http)
    found.socket = connect(server.http_port)
    key = server.token if token == "" else token
    found._common = f"Host: x\r\nAuthorization: Bearer {key}\r\n" if key else "Host: x\r\n"
    return found


def deliver(server: Trapline, inbox: Inbox, head: str, body: bytes) -> str:
    """Stores a message, and returns its id."""
    smtp = connect(server.smtp_port)
    begun = f"EHLO x\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<{inbox.address}>\r\nDATA\r\n"
    smtp.sendall(begun.encode())
    replies = b""
    while b"354" not in replies:
        replies += smtp.recv(4096)
    smtp.sendall(head.encode() + b"\r\n\r\n" + body + b"\r\n.\r\n")
    reply = smtp.recv(4096)
    smtp.close()
    if not reply.startswith(b"250"):
        raise Failed(f"the attack's own mail was refused: {reply!r}")
    return reply.split()[-1].decode()


def body_of(size: int) -> bytes:
    return (b"0123456789abcdef" * 4 + b"\r\n") * (size // 66)


def again(work: Callable[[], object]) -> None:
    """Does it over and over; what the server refuses or cuts is begun anew."""
    while True:
        with contextlib.suppress(OSError, Failed, ConnectionError):
            work()
        time.sleep(SMALL_PAUSE)


def preview(server: Trapline, inbox: Inbox) -> None:
    """One tag with 250,000 attributes, previewed without a pause."""
    html = b"<p " + b" ".join(b"on%d=1" % n for n in range(250_000)) + b">x"
    lines = b"\r\n".join(html[at : at + 900] for at in range(0, len(html), 900))
    message = deliver(server, inbox, "Content-Type: text/html", lines)
    client = http(server)
    again(lambda: client.exchange(client.bytes_of("GET", f"/api/messages/{message}/html")))


def silent_data(server: Trapline, inbox: Inbox) -> None:
    """1,100 connections that send DATA and then nothing."""
    begun = f"EHLO x\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<{inbox.address}>\r\nDATA\r\n".encode()
    held = [connect(server.smtp_port) for _ in range(1_100)]
    for smtp in held:
        smtp.sendall(begun)
    time.sleep(3600)


def large_bodies(server: Trapline, inbox: Inbox) -> None:
    """Five messages of 7 MB that never end."""
    begun = f"EHLO x\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<{inbox.address}>\r\nDATA\r\n".encode()

    def hold() -> None:
        held = [connect(server.smtp_port) for _ in range(5)]
        for smtp in held:
            smtp.sendall(begun)
        for smtp in held:
            smtp.sendall(body_of(7_000_000))
        time.sleep(20)

    again(hold)


def unread_answers(server: Trapline, inbox: Inbox) -> None:
    """40 clients that ask for 24 MB and read nothing."""
    message = deliver(server, inbox, "Subject: large", body_of(LARGE))
    held = []

    def ask() -> None:
        client = http(server)
        client.socket.sendall(client.bytes_of("GET", f"/api/messages/{message}/raw"))
        held.append(client)
        if len(held) > 40:
            held.pop(0).close()

    again(ask)


def unread_streams(server: Trapline, inbox: Inbox) -> None:
    """2,000 event streams that are never read, of an inbox that gets mail."""
    held = [http(server) for _ in range(2_000)]
    for client in held:
        client.socket.sendall(client.bytes_of("GET", f"/api/inboxes/{inbox.id}/events"))
    again(lambda: deliver(server, inbox, "Subject: event", b"x"))


def searches(server: Trapline, inbox: Inbox) -> None:
    """Searches over 200 messages with subjects of 100 KB."""
    for _ in range(200):
        deliver(server, inbox, "Subject: " + "\r\n ".join(["long " * 150] * 130), b"x")
    client = http(server)
    path = f"/api/inboxes/{inbox.id}/messages?q=nowhere&limit=200"
    again(lambda: client.exchange(client.bytes_of("GET", path)))


def controls(server: Trapline, inbox: Inbox) -> None:
    """24 MB of control characters, six times as many in JSON, asked for again and again."""
    message = deliver(server, inbox, "Content-Type: text/plain", (b"\x01" * 900 + b"\r\n") * 26_000)
    client = http(server)
    again(lambda: client.exchange(client.bytes_of("GET", f"/api/messages/{message}")))


def code_waits(server: Trapline, inbox: Inbox) -> None:
    """Waits for codes over eight messages of 24 MB without one."""
    for _ in range(8):
        deliver(server, inbox, "Subject: large", body_of(LARGE))
    client = http(server)
    path = f"/api/inboxes/{inbox.id}/messages/wait?hasCode=true&timeout=1"
    again(lambda: client.exchange(client.bytes_of("GET", path)))


def guessed_keys(server: Trapline, _: Inbox) -> None:
    """Unknown API keys without a pause."""
    client = http(server, "tl_guessedguessedguessedguessed")
    request = client.bytes_of("GET", "/api/inboxes")
    while True:
        client.exchange(request)


def slow_heads(server: Trapline, _: Inbox) -> None:
    """2,000 HTTP connections that send a header line a second and never end it."""
    held: list[socket.socket] = []

    def drip() -> None:
        while len(held) < 2_000:
            held.append(connect(server.http_port))
            held[-1].sendall(b"GET / HTTP/1.1\r\n")
        for client in list(held):
            try:
                client.sendall(b"X: y\r\n")
            except OSError:
                held.remove(client)
        time.sleep(1)

    again(drip)


ATTACKS = [
    preview,
    silent_data,
    large_bodies,
    unread_answers,
    unread_streams,
    searches,
    controls,
    code_waits,
    guessed_keys,
    slow_heads,
]
