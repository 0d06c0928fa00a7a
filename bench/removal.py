#!/usr/bin/env python3
"""Measures what others see while a team with many inboxes is removed from one process.

    bench/removal.py target/dist/trapline

Prints the p99 of mail at 500 a second and of lists of another team, before and meanwhile, how long the removal takes,
and the memory that it adds. smtpblast is that of the `dist` profile.
"""

import contextlib
import json
import sqlite3
import statistics
import sys
import threading
import time

from lib.blast import recipients
from lib.groups.smtp import INBOXES
from lib.rest import Failed, Http
from lib.standalone import measurement
from people import PASSWORD, Served, cookie_of, p99_of_mail

# How long the removal may take.
REMOVAL_SECONDS = 1800


class Shared(Served):
    """With a second team, whose owner deletes it."""

    def signed_up(self) -> str:
        """Makes a person with a team of their own, and returns the cookie of a session."""
        body = {"email": "eve@example.com", "name": "Eve", "password": PASSWORD}
        http = Http(self.http_port)
        answer = http.exchange(http.bytes_of("POST", "/api/auth/sign-up", body))
        http.close()
        if answer.status != 201:
            raise Failed(f"the sign-up was answered {answer.status} {answer.body[:300]!r}")
        return cookie_of(answer)

    def team(self, cookie: str) -> dict:
        """The team of whoever has the cookie."""
        http = Http(self.http_port)
        answer = http.exchange(http.bytes_of("GET", "/api/team", headers=f"Cookie: {cookie}\r\n"))
        http.close()
        return json.loads(answer.body)

    def stored_inboxes(self) -> int:
        """Inboxes of all teams in the file itself, since nobody is shown those of a deleted team."""
        file = f"file:{self.data}/trapline.db?mode=ro"
        with contextlib.closing(sqlite3.connect(file, uri=True)) as database:
            return database.execute("SELECT count(*) FROM inbox_by_id").fetchone()[0]


def main() -> int:
    with measurement(__doc__, inboxes=100_000, seconds=60) as arguments:
        removal(arguments.inboxes, arguments.seconds)
    return 0


class Reads:
    """Lists of an inbox, 50 a second over one connection, beside what the body does."""

    def __init__(self, server: Shared, path: str) -> None:
        self.server, self.path, self.took = server, path, []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self) -> "Reads":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def run(self) -> None:
        http = self.server.http()
        request = http.bytes_of("GET", self.path)
        while not self.ended.wait(0.02):
            begun = time.perf_counter()
            if http.exchange(request).status != 200:
                raise Failed(f"{self.path} was not answered")
            self.took.append((time.perf_counter() - begun) * 1000)
        http.close()

    def p99(self) -> float:
        return statistics.quantiles(self.took, n=100)[98]


def fill(server: Shared, cookie: str, inboxes: int, threads: int = 4) -> None:
    """Makes inboxes of whoever has the cookie."""

    def work(first: int) -> None:
        http = Http(server.http_port)
        for number in range(first, inboxes, threads):
            body = {"name": f"Of many {number}"}
            request = http.bytes_of("POST", "/api/inboxes", body, f"Cookie: {cookie}\r\n")
            if http.exchange(request).status != 201:
                raise Failed(f"inbox {number} was not made")
        http.close()

    workers = [threading.Thread(target=work, args=(first,)) for first in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def removal(inboxes: int, seconds: int) -> None:
    """Mail at 500 a second and lists of another team, before a team with many inboxes is deleted and meanwhile."""
    with Shared() as server:
        cookie = server.signed_up()
        own, team = server.inboxes(INBOXES), server.team(cookie)
        # The service makes itself one for its probes.
        targets, others = recipients(server, own), server.stored_inboxes() + 1
        left = lambda: max(0, server.stored_inboxes() - others)
        fill(server, cookie, inboxes)
        if left() < inboxes - 1:
            raise Failed(f"{left()} of {inboxes} inboxes were made")

        def measured() -> tuple[float, float]:
            with Reads(server, server.list_path(own[0], limit=50)) as reads:
                mail = p99_of_mail(server, targets, 500, seconds)
            return mail, reads.p99()

        before, memory = measured(), server.usage().rss_mb
        delete(server, cookie, team)
        began, meanwhile = time.monotonic(), measured()
        then, peak = left(), server.usage().rss_mb
        while now := left():
            peak = max(peak, server.usage().rss_mb)
            if time.monotonic() - began > REMOVAL_SECONDS:
                raise Failed(f"{now} inboxes are left after {REMOVAL_SECONDS} s")
            time.sleep(0.5)
        took = time.monotonic() - began
    for name, was, beside in zip(("mail at 500 a second", "lists"), before, meanwhile):
        print(f"{name} while a team with {inboxes} inboxes is removed: p99 {was:.1f} ms before, {beside:.1f} ms meanwhile ({beside / was:.2f} ×)")
    print(f"the removal: {then} inboxes were left after the {seconds} s that were measured, none after {took:.0f} s; at most {peak - memory:.0f} MB more", flush=True)


def delete(server: Shared, cookie: str, team: dict) -> None:
    """Deletes the team, as its owner."""
    http = Http(server.http_port)
    name, head = {"name": team["name"]}, f"Cookie: {cookie}\r\n"
    answer = http.exchange(http.bytes_of("DELETE", "/api/team", name, head))
    http.close()
    if answer.status != 204:
        raise Failed(f"the end of the team was answered {answer.status} {answer.body[:300]!r}")


if __name__ == "__main__":
    sys.exit(main())
