"""Reading: list, search and raw over a store of 10,000; then what that store takes on disk.

Both systems are filled once and then asked by turns over one kept connection each.
"""

import json
import random
import statistics
import time
from contextlib import ExitStack

from .. import machine
from ..blast import blast, recipients, whole
from ..plan import Plan
from ..rest import Failed, Http
from ..rows import Results
from ..servers import SYSTEMS, Server

PAGE = 50


def measure(plan: Plan, results: Results) -> None:
    stored = plan.pick(10_000, 2_000)
    with ExitStack() as stack:
        readers = []
        for name in plan.systems:
            server = stack.enter_context(SYSTEMS[name]())
            readers.append(Reader(server, stored))
        for _ in range(plan.rounds):
            for reader in readers:
                reader.round(plan, results)
        for reader in readers:
            reader.server.stop()
            each = machine.disk_bytes(reader.server.data) / stored / 1000
            results.add("disk", reader.server.name, each)


class Reader:
    def __init__(self, server: Server, stored: int) -> None:
        self.server, self.stored = server, stored
        self.inbox = server.inboxes(1, max_messages=10_000)[0]
        options = ["--subject", "Receipt ref{n} for your order", "--messages", stored]
        whole(blast(server, *recipients(server, [self.inbox]), *options), stored)
        self.http = server.http()
        self.messages = self._some_messages()

    def _some_messages(self) -> list[dict]:
        pages = range(1, 1 + self.stored // PAGE, 7)
        found = []
        for page in pages:
            path = self.server.list_path(self.inbox, limit=PAGE, page=page)
            found += self.http.json("GET", path)["messages"]
        return found

    def round(self, plan: Plan, results: Results) -> None:
        name, choice = self.server.name, random.Random(1)
        page = self.server.list_path(self.inbox, limit=PAGE)
        lists = [page] * plan.pick(300, 50)
        results.add("list", name, timed(self.http, lists, self._is_page))
        # Each number of four digits is in one subject only.
        numbers = choice.sample(range(1000, min(9999, self.stored)), plan.pick(40, 10))
        searches = [self.server.search_path(self.inbox, f"ref{number}") for number in numbers]
        results.add("search", name, timed(self.http, searches, is_one))
        messages = choice.choices(self.messages, k=plan.pick(1000, 100))
        raws = [self.server.raw_path(message) for message in messages]
        results.add("raw", name, timed(self.http, raws, is_mail))

    def _is_page(self, body: bytes) -> bool:
        page = json.loads(body)
        return page["total"] == self.stored and len(page["messages"]) == PAGE


def is_one(body: bytes) -> bool:
    return len(json.loads(body)["messages"]) == 1


def is_mail(body: bytes) -> bool:
    return len(body) > 5000 and b"smtpblast.example" in body


def timed(http: Http, paths: list[str], is_right: object) -> float:
    """Median ms from the request's first byte to the answer's last; each answer is checked."""
    took = []
    for path in paths:
        request = http.bytes_of("GET", path)
        begun = time.perf_counter()
        answer = http.exchange(request)
        took.append((time.perf_counter() - begun) * 1000)
        if answer.status != 200 or not is_right(answer.body):
            raise Failed(f"GET {path}: {answer.status} {answer.body[:200]!r}")
    return statistics.median(took)
