"""A steady load, mail beside it, and what is measured by turns."""

import collections
import contextlib
import statistics
import threading
import time
from collections.abc import Callable
from typing import Self, TypeVar

from .blast import blast, recipients
from .groups.smtp import INBOXES
from .servers import Trapline

# Seconds after which a thread that waits for its turn looks whether the load is to end.
LOOK = 0.2


def by_turns(names: list[str], number: int) -> list[str]:
    """The names, the other way round in every second round: what a machine does by and by meets each alike."""
    return names[:: 1 if number % 2 == 0 else -1]


class Load:
    """Something so many times a second, shared by threads, from when it is entered until it is left."""

    def __init__(self, threads: int, rate: float) -> None:
        self.rate = rate / threads
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(number,)) for number in range(threads)]

    def __enter__(self) -> Self:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join()

    def run(self, number: int) -> None:
        with self.worker(number) as act:
            began, asked = time.monotonic(), 0
            while not self.ended.is_set():
                due = began + asked / self.rate
                if due > time.monotonic():
                    time.sleep(min(LOOK, due - time.monotonic()))
                    continue
                act(asked)
                asked += 1

    def worker(self, number: int) -> contextlib.AbstractContextManager[Callable[[int], None]]:
        """What the thread of this number does each time; it is told how often it did it before."""
        raise NotImplementedError


AnyLoad = TypeVar("AnyLoad", bound=Load)


def mail_beside(
    server: Callable[[], Trapline],
    load: Callable[[Trapline], AnyLoad],
    rate: int,
    rounds: int,
    seconds: int,
) -> tuple[str, list[AnyLoad]]:
    """What is to be said of mail at so many a second, without and with a load, by turns, each time at a fresh server;
    and the loads that there were."""
    found, loads = collections.defaultdict(list), []
    options = ("--connections", 16, "--rate", rate, "--duration", seconds)
    for number in range(rounds):
        for name in by_turns(["without", "with"], number):
            with server() as started, contextlib.ExitStack() as stack:
                targets = recipients(started, started.inboxes(INBOXES))
                if name == "with":
                    loads.append(stack.enter_context(load(started)))
                found[name].append(blast(started, *targets, *options)["transactionMs"]["p99"])
    without, beside = (statistics.median(found[name]) for name in ("without", "with"))
    told = f"p99 {without:.1f} ms without, {beside:.1f} ms with ({beside / without:.2f} ×), medians of {rounds}"
    return told, loads
