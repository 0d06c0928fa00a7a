#!/usr/bin/env python3
"""Measures what the checks of a message cost one process.

    bench/checks.py target/dist/trapline
    bench/checks.py target/dist/trapline --rivals 1

Prints the server's CPU for the spam score and the HTML check of messages of two sizes that were not checked before, and
for an answer that is kept; for hostile HTML of one and two megabytes; what 10,000 checks leave in memory; and what a
list takes beside 16 clients that check messages of two megabytes without end. With `--rivals 1` Mailpit has the same
messages and checks their HTML by turns.
"""

import collections
import itertools
import random
import smtplib
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing

from lib import build
from lib.cost import cpu, spread, timed
from lib.load import by_turns
from lib.rest import Failed, Http, query
from lib.servers import Inbox, Mailpit, Server, Trapline
from lib.sink import quantiles
from lib.standalone import measurement

SIZES = {"6 KB": 6_000, "100 KB": 100_000}
MEGABYTE = 1_000_000
# What is repeated after what, to be slow.
FLOODS = {
    "elements within each other": ("", "<div>"),
    "attributes of one tag": ("<p ", "a=b "),
    "styled attributes": ("", '<p style="display:grid;color:red">'),
    "selectors": ("<style>", "a>b:hover,"),
    "rules": ("<style>", "a{display:flex}"),
    "nested rules": ("<style>", "@media all{"),
    "comments": ("", "<!--[if mso]>"),
    "open tags": ("", '<a "'),
}
CLIENTS = 16
LISTS = 500


def main() -> int:
    with measurement(__doc__, rounds=3, messages=200, checks=10_000, rivals=0) as arguments:
        usual(arguments.rounds, arguments.messages, bool(arguments.rivals))
        with Trapline() as server:
            (inbox,) = server.inboxes(1)
            floods(server, inbox)
            memory(server, arguments.checks)
            beside(server)
    return 0


def newsletter(size: int) -> str:
    """Tables with styles on each cell, as makers of newsletters write them, and words of its own."""
    html = "<!doctype html><html><head><style>@media (max-width:480px){.c{width:100%!important}}</style></head><body>"
    cell = (
        '<table align="center" border="0" cellpadding="0" style="background:#ffffff;width:100%;max-width:600px"><tr>'
        '<td style="border-radius:4px;padding:8px"><a href="https://example.com/{0}">{0}</a></td></tr></table>\n'
    )
    while len(html) < size:
        html += cell.format(random.randbytes(8).hex())
    return html + "</body></html>"


def mail(server: Server, inbox: Inbox, htmls: list[str]) -> list[str]:
    """Delivers messages with this HTML; their ids."""
    seen = set(ids(server, inbox))
    with smtplib.SMTP("127.0.0.1", server.smtp_port, timeout=120) as client:
        for html in htmls:
            # Lines that SMTP allows, whatever is repeated (RFC 5321, section 4.5.3.1.6).
            lines = "\r\n".join(html[at : at + 900] for at in range(0, len(html), 900))
            head = f"From: <a@example.com>\r\nTo: <{inbox.address}>\r\nSubject: News\r\nContent-Type: text/html\r\n"
            client.sendmail("a@example.com", [inbox.address], f"{head}\r\n{lines}\r\n".encode())
    new = [id for id in ids(server, inbox) if id not in seen]
    if len(new) != len(htmls):
        raise Failed(f"{len(new)} messages of {len(htmls)}")
    return new


def ids(server: Server, inbox: Inbox) -> list[str]:
    """All messages that there are."""
    found: list[str] = []
    with closing(server.http()) as http:
        for page in itertools.count(1):
            messages = http.json("GET", server.list_path(inbox, limit=100, page=page))["messages"]
            found += [message.get("id") or message["ID"] for message in messages]
            if len(messages) < 100:
                return found


def usual(rounds: int, messages: int, has_rival: bool) -> None:
    found = collections.defaultdict(list)
    with ExitStack() as stack:
        systems = {"trapline": stack.enter_context(Trapline())}
        if has_rival:
            build.mailpit()
            systems["mailpit"] = stack.enter_context(Mailpit())
        for number, (size, length) in itertools.product(range(rounds), SIZES.items()):
            htmls = [newsletter(length) for _ in range(messages)]
            for name in by_turns(list(systems), number):
                server = systems[name]
                (inbox,) = server.inboxes(1)
                delivered = mail(server, inbox, htmls)
                for check, path in paths(name).items():
                    asked = [path.format(id) for id in delivered]
                    found[f"{name}: {check}, {size}"].append(cpu_of(server, asked))
                    if name == "trapline":
                        found[f"{name}: {check}, {size}, kept"].append(cpu_of(server, asked[-10:] * 20))
    for what, values in found.items():
        print(f"{what}: {spread(values, ' ms of CPU')}", flush=True)


def paths(name: str) -> dict[str, str]:
    if name == "mailpit":
        return {"HTML check": "/api/v1/message/{}/html-check"}
    return {"HTML check": "/api/messages/{}/html-check", "spam score": "/api/messages/{}/spam"}


def cpu_of(server: Server, asked: list[str]) -> float:
    """CPU in ms of a request, of these."""
    paths = iter(asked)
    with closing(server.http()) as http:
        return cpu(server, lambda: got(http, next(paths)), len(asked))


def got(http: Http, path: str) -> None:
    answer = http.exchange(http.bytes_of("GET", path))
    if answer.status != 200:
        raise Failed(f"{path}: {answer.status} {answer.body[:300]!r}")


def floods(server: Trapline, inbox: Inbox) -> None:
    for name, (start, piece) in FLOODS.items():
        took = []
        for megabytes in (1, 2):
            html = start + piece * (megabytes * MEGABYTE // len(piece))
            (id,) = mail(server, inbox, [html])
            # Each with other parameters, so that none is kept.
            asked = [f"/api/messages/{id}/html-check?clients={client}" for client in ("gmail", "outlook", "apple-mail")]
            took.append(cpu_of(server, asked))
        print(f"HTML check, {name}: {took[0]:.1f} ms for 1 MB, {took[1]:.1f} ms for 2 MB ({took[1] / took[0]:.2f} ×)", flush=True)


def memory(server: Trapline, checks: int) -> None:
    """What different checks leave, of the same 100 messages that all were read before."""
    (inbox,) = server.inboxes(1)
    delivered = mail(server, inbox, [newsletter(SIZES["6 KB"]) for _ in range(100)])
    with closing(server.http()) as http:
        asked = variants(http, delivered)
        for id in delivered:
            got(http, f"/api/messages/{id}/html-check")
        before = server.usage()
        for path in itertools.islice(asked, checks):
            got(http, path)
    after = server.usage()
    print(f"memory after {checks} different checks: {after.rss_mb - before.rss_mb:.1f} MB more", flush=True)


def variants(http: Http, messages: list[str]):
    """HTML checks of these messages without end, each for two other clients."""
    families = [client["id"] for client in http.json("GET", "/api/checks")["html"]["clients"]]
    for pair in itertools.permutations(families, 2):
        for id in messages:
            yield query(f"/api/messages/{id}/html-check", clients=",".join(pair))


def beside(server: Trapline) -> None:
    """A list's p99 without and with clients that check without end."""
    (inbox, other) = server.inboxes(2)
    large = mail(server, inbox, [newsletter(2 * MEGABYTE) for _ in range(CLIENTS)])
    mail(server, other, [newsletter(SIZES["6 KB"]) for _ in range(50)])
    ended = threading.Event()

    def check(id: str) -> None:
        with closing(server.http()) as http:
            for path in variants(http, [id]):
                if ended.is_set():
                    return
                got(http, path)

    def listed() -> float:
        with closing(server.http()) as http:
            path = server.list_path(other, limit=50)
            return quantiles([timed(lambda: got(http, path)) for _ in range(LISTS)])[1]

    without = listed()
    threads = [threading.Thread(target=check, args=(id,)) for id in large]
    for thread in threads:
        thread.start()
    time.sleep(1)
    during = listed()
    ended.set()
    for thread in threads:
        thread.join()
    print(f"a list's p99: {without:.2f} ms, {during:.2f} ms beside {CLIENTS} clients ({during / without:.2f} ×)", flush=True)


if __name__ == "__main__":
    sys.exit(main())
