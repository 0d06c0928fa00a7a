"""Whether memory grows with what is done: after 2 million requests and mails against 200,000. Nobody
reads the metrics meanwhile."""

import threading
from collections.abc import Iterator

from ..blast import blast, recipients, whole
from ..plan import Plan
from ..rest import Failed, query
from ..rows import Results
from ..servers import Inbox, Server, Trapline
from .inboxes import await_quiet

INBOXES, PER_INBOX = 100, 1_000
# Requests that are under way on a connection.
AT_ONCE = 20
ANSWER = b"HTTP/1.1 200"


def measure(plan: Plan, results: Results) -> None:
    """Once. Half of it are mails, and half are requests for a message of a list."""
    if "trapline" not in plan.systems:
        return
    some, all_of_it = plan.pick(200_000, 4_000), plan.pick(2_000_000, 12_000)
    with Trapline() as server:
        inboxes = server.inboxes(plan.pick(INBOXES, 4), plan.pick(PER_INBOX, 100))
        use(server, inboxes, some // 2)
        early = server.usage()
        use(server, inboxes, (all_of_it - some) // 2)
        late = server.usage()
        results.add("grown", "trapline", late.rss_mb - early.rss_mb)
        results.note("grown", "trapline", earlyMb=early.rss_mb, lateMb=late.rss_mb)


def use(server: Server, inboxes: list[Inbox], count: int) -> None:
    """As many mails as requests, side by side, until the server has nothing left to do."""
    failed: list[Exception] = []
    asking = threading.Thread(target=ask, args=(server, inboxes, count, failed))
    asking.start()
    options = ["--messages", count, "--connections", 16]
    whole(blast(server, *recipients(server, inboxes), *options), count)
    asking.join()
    if failed:
        raise failed[0]
    await_quiet(server)


def ask(server: Server, inboxes: list[Inbox], count: int, failed: list[Exception]) -> None:
    http = server.http()
    try:
        for paths in batches(inboxes, count):
            http.socket.sendall(b"".join(http.bytes_of("GET", path) for path in paths))
            left, tail = len(paths), b""
            while left:
                data = http.socket.recv(1 << 18)
                if not data:
                    raise Failed("the server closed the connection")
                left -= (tail + data).count(ANSWER)
                tail = data[-len(ANSWER) + 1 :]
    except Exception as error:
        failed.append(error)
    finally:
        http.close()


def batches(inboxes: list[Inbox], count: int) -> Iterator[list[str]]:
    """Paths of lists of one message."""
    for begin in range(0, count, AT_ONCE):
        numbers = range(begin, min(begin + AT_ONCE, count))
        chosen = (inboxes[number % len(inboxes)] for number in numbers)
        yield [query(f"/api/inboxes/{inbox.id}/messages", limit=1) for inbox in chosen]
