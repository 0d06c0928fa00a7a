#!/usr/bin/env python3
"""Where the bytes go that one process writes for a mail.

`bench/written.py [MAILS]` sends mails of 6 KB over 64 connections to a new server, ends it, and counts the
pages of the write-ahead log since that was last begun anew, by the table or index that they belong to.
Inboxes have pages of their own only after some thousand mails. Then compresses some of what was stored,
for what that would give and cost. Needs the binaries that `bench/run.py` builds, and `sqlite3` with dbstat.
"""

import collections
import contextlib
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import sys
import time
import zlib

from lib import build, machine
from lib.blast import blast, recipients, whole
from lib.groups.smtp import INBOXES
from lib.servers import Trapline

# Bytes: of the log's header, and of the header before each of its pages.
HEADER, FRAME = 32, 24
BYTES = "segment_bytes (overflow)"
WAYS = {"deflate, level 1": zlib.Z_DEFAULT_STRATEGY, "Huffman only": zlib.Z_HUFFMAN_ONLY}


def frames(log: bytes) -> tuple[int, list[int], int]:
    """A page's length, the number of the page in each frame, and how many commits they are."""
    page = struct.unpack_from(">I", log, 8)[0]
    salts, numbers, commits = log[16:24], [], 0
    for at in range(HEADER, len(log) - page - FRAME + 1, FRAME + page):
        number, ends = struct.unpack_from(">II", log, at)
        if log[at + 8 : at + 16] != salts:
            break
        numbers.append(number)
        commits += ends != 0
    return page, numbers, commits


def owners(database: pathlib.Path) -> dict[int, str]:
    """The table or index of each page, and what kind of page it is."""
    query = "SELECT pageno, name, pagetype FROM dbstat"
    done = subprocess.run(["sqlite3", database, query], capture_output=True, text=True, check=True)
    rows = (line.split("|") for line in done.stdout.splitlines())
    return {int(number): f"{name} ({kind})" for number, name, kind in rows}


def segments(database: pathlib.Path) -> tuple[int, list[bytes]]:
    """The bytes of all segments, and some of the segments."""
    with contextlib.closing(sqlite3.connect(database)) as opened:
        size = opened.execute("SELECT sum(length(bytes)) FROM segment_bytes").fetchone()[0]
        some = opened.execute("SELECT bytes FROM segment_bytes ORDER BY seq DESC LIMIT 100")
        return size, [row[0] for row in some]


def compressed(stored: list[bytes], strategy: int) -> tuple[int, float]:
    """Bytes, and seconds of processor."""
    started, size = time.process_time(), 0
    for segment in stored:
        deflate = zlib.compressobj(1, zlib.DEFLATED, -15, 9, strategy)
        size += len(deflate.compress(segment)) + len(deflate.flush())
    return size, time.process_time() - started


def main() -> None:
    mails = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
    build.WORK.mkdir(parents=True, exist_ok=True)
    with Trapline("power") as server:
        inboxes = recipients(server, server.inboxes(INBOXES))
        database = next(server.data.rglob("trapline.db"))
        before = machine.written_bytes(server.process.pid)
        whole(blast(server, *inboxes, "--connections", 64, "--messages", mails), mails)
        written = machine.written_bytes(server.process.pid) - before
        server.process.kill()
        server.process.wait()
        page, numbers, commits = frames(database.with_name("trapline.db-wal").read_bytes())
        owner = owners(database)
        size, some = segments(database)
    shutil.rmtree(build.WORK, ignore_errors=True)
    each = size / mails
    in_log = collections.Counter(owner.get(number, "other") for number in numbers)
    moved = collections.Counter(owner.get(number, "other") for number in set(numbers))
    # Segments are in the log once, so that its mails are known by their bytes.
    counted = max(in_log[BYTES] * page / each, 1)
    kb = page / counted / 1000
    print(f"{written / mails / 1000:.1f} KB a mail by the kernel's count; in the log {counted:.0f} mails,")
    print(f"{counted / max(commits, 1):.1f} a commit. KB a mail:\n")
    print("| pages of | in the log | moved to the database |\n|---|--:|--:|")
    for kind, count in in_log.most_common():
        print(f"| {kind} | {count * kb:.2f} | {moved[kind] * kb:.2f} |")
    print(f"| all | {len(numbers) * kb:.2f} | {len(set(numbers)) * kb:.2f} |\n")
    share = sum(map(len, some)) / each
    print(f"| segments | KB a mail | ms of processor a mail |\n|---|--:|--:|\n| as stored | {each / 1000:.2f} | |")
    for way, strategy in WAYS.items():
        size, used = compressed(some, strategy)
        print(f"| {way} | {size / share / 1000:.2f} | {used * 1000 / share:.3f} |")


if __name__ == "__main__":
    main()
