"""What a stranger may try: each attack goes on by itself, from an address of its own, until it is ended."""

import base64
import contextlib
import select
import socket
import sqlite3
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


def ask_again(server: Trapline, path: str) -> None:
    """Asks over and over, on one connection as long as it lasts."""

    def ask() -> None:
        client = http(server)
        while True:
            client.exchange(client.bytes_of("GET", path))
            time.sleep(SMALL_PAUSE)

    again(ask)


def preview(server: Trapline, inbox: Inbox) -> None:
    """One tag with 250,000 attributes, previewed without a pause."""
    html = b"<p " + b" ".join(b"on%d=1" % n for n in range(250_000)) + b">x"
    lines = b"\r\n".join(html[at : at + 900] for at in range(0, len(html), 900))
    message = deliver(server, inbox, "Content-Type: text/html", lines)
    ask_again(server, f"/api/messages/{message}/html")


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


class Requests:
    """So many connections with a request each whose answer is not read; what the server ends is begun
    anew."""

    def __init__(self, count: int, ask: Callable[[], socket.socket]) -> None:
        self.ask, self.open, self.ended = ask, {}, select.poll()
        for _ in range(count):
            self.begin()

    def begin(self) -> None:
        with contextlib.suppress(OSError):
            opened = self.ask()
            self.open[opened.fileno()] = opened
            self.ended.register(opened, select.POLLRDHUP)

    def renew(self) -> None:
        for number, _ in self.ended.poll(0):
            self.ended.unregister(number)
            self.open.pop(number).close()
            self.begin()


def asking(server: Trapline, path: str, token: str = "") -> Callable[[], socket.socket]:
    def ask() -> socket.socket:
        client = http(server, token)
        client.socket.sendall(client.bytes_of("GET", path))
        return client.socket

    return ask


def unread_streams(server: Trapline, inbox: Inbox) -> None:
    """2,000 event streams that are never read, of an inbox that gets a hundred mails a second."""
    streams = Requests(2_000, asking(server, f"/api/inboxes/{inbox.id}/events"))

    def mail() -> None:
        deliver(server, inbox, "Subject: event", b"x")
        streams.renew()

    again(mail)


def read_streams(server: Trapline, inbox: Inbox) -> None:
    """500 event streams that are read, of an inbox that gets a hundred mails a second."""
    streams = Requests(500, asking(server, f"/api/inboxes/{inbox.id}/events"))
    readable = select.poll()
    for opened in streams.open.values():
        readable.register(opened, select.POLLIN)

    def mail() -> None:
        deliver(server, inbox, "Subject: event", b"x")
        for number, _ in readable.poll(0):
            streams.open[number].recv(1 << 20)

    again(mail)


def all_waits(server: Trapline, inbox: Inbox) -> None:
    """All the waits that a team may have, parked by one key, and more asked for."""
    path = f"/api/inboxes/{inbox.id}/messages/wait?subject=never&timeout=120"
    waits = Requests(10_500, asking(server, path))
    while True:
        waits.renew()
        time.sleep(0.1)


def damaged(server: Trapline, inbox: Inbox) -> None:
    """A message of 7 MB with a flipped bit on disk, asked for again and again."""
    mark = b"the-damaged-one"
    message = deliver(server, inbox, "Subject: damaged", mark + b"\r\n" + body_of(7_000_000))
    if not server.refuses:
        flip(server, mark)
    client = http(server)
    answer = client.exchange(client.bytes_of("GET", f"/api/messages/{message}"))
    if answer.status != (503 if server.refuses else 500):
        raise SystemExit(f"a damaged message was answered {answer.status}")
    ask_again(server, f"/api/messages/{message}")


def flip(server: Trapline, mark: bytes) -> None:
    """Flips a bit of the stored bytes that begin with the mark."""
    database = sqlite3.connect(server.data / "trapline.db", timeout=10)
    query = "SELECT seq, instr(bytes, ?) FROM segment_bytes WHERE instr(bytes, ?) > 0"
    sequence, place = database.execute(query, (mark, mark)).fetchone()
    with database.blobopen("segment_bytes", "bytes", sequence) as blob:
        blob[place] = blob[place] ^ 1
    database.commit()
    database.close()


def guessed_passwords(server: Trapline, inbox: Inbox) -> None:
    """Wrong SMTP passwords on 200 connections without a pause."""
    guess = base64.b64encode(f"\0{inbox.username}\0guessed".encode())
    replies = select.poll()
    held: dict[int, socket.socket] = {}

    def begin() -> None:
        smtp = connect(server.smtp_port)
        smtp.sendall(b"EHLO x\r\n")
        held[smtp.fileno()] = smtp
        replies.register(smtp, select.POLLIN)

    while True:
        with contextlib.suppress(OSError):
            while len(held) < 200:
                begin()
        for number, _ in replies.poll(100):
            try:
                said = held[number].recv(65_536)
                if said and b"220 " not in said[:4]:
                    held[number].sendall(b"AUTH PLAIN " + guess + b"\r\n")
            except OSError:
                said = b""
            if not said:
                replies.unregister(number)
                held.pop(number).close()


def searches(server: Trapline, inbox: Inbox) -> None:
    """Searches over 200 messages with subjects of 100 KB."""
    for _ in range(200):
        deliver(server, inbox, "Subject: " + "\r\n ".join(["long " * 150] * 130), b"x")
    ask_again(server, f"/api/inboxes/{inbox.id}/messages?q=nowhere&limit=200")


def controls(server: Trapline, inbox: Inbox) -> None:
    """24 MB of control characters, six times as many in JSON, asked for again and again."""
    message = deliver(server, inbox, "Content-Type: text/plain", (b"\x01" * 900 + b"\r\n") * 26_000)
    ask_again(server, f"/api/messages/{message}")


def code_waits(server: Trapline, inbox: Inbox) -> None:
    """Waits for codes over eight messages of 24 MB without one."""
    for _ in range(8):
        deliver(server, inbox, "Subject: large", body_of(LARGE))
    ask_again(server, f"/api/inboxes/{inbox.id}/messages/wait?hasCode=true&timeout=1")


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
    read_streams,
    all_waits,
    damaged,
    guessed_passwords,
]
