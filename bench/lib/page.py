"""Writes the results: docs/benchmarks.md, the raw JSON, and a table on the terminal."""

import json
from pathlib import Path

from . import build
from .rows import ROWS, Results, Row

PAGE = build.ROOT / "docs" / "benchmarks.md"
RAW = build.BENCH / "results" / "latest.json"
# What stands below this line is written by hand and stays.
BY_HAND = "<!-- Written by hand from here on; `make bench` keeps it. -->"


def load() -> tuple[Results, dict]:
    """The last results, to which a partial run adds."""
    if not RAW.exists():
        return Results(), {}
    raw = json.loads(RAW.read_text())
    return Results(raw["values"], raw["details"], raw["failures"]), raw["about"]


def save(results: Results, about: dict) -> None:
    RAW.parent.mkdir(parents=True, exist_ok=True)
    raw = {"about": about, **vars(results)}
    RAW.write_text(json.dumps(raw, indent=1, ensure_ascii=False) + "\n")


def merge(old: Results, new: Results) -> Results:
    """New values replace old ones; a group that was measured now is no failure any more."""
    measured = set(new.details) | {row.group for row in ROWS if row.id in new.values}
    failures = {group: why for group, why in old.failures.items() if group not in measured}
    return Results(
        old.values | new.values, old.details | new.details, failures | new.failures
    )


def write(results: Results, about: dict) -> None:
    kept = PAGE.read_text().partition(BY_HAND)[2] if PAGE.exists() else "\n"
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    lines = [*head(about, results), *table(results, ROWS), "", METHOD, BY_HAND]
    PAGE.write_text("\n".join(lines) + kept)


def head(about: dict, results: Results) -> list[str]:
    machine, versions = about["machine"], about["versions"]
    sync = results.median_of_notes("synced", "fdatasyncMs")
    quick = "; a quick run, with fewer of everything than the table says" if about["quick"] else ""
    lines = [
        "# Benchmarks",
        "",
        f"Trapline beside Mailpit {versions.get('mailpit', '')} on one machine in one run, by turns. "
        "The command, on a machine with Rust, Go and Python 3.11: `make bench`.",
        "",
        f"* Date: {about['date']}; rounds: {about['rounds']}{quick}",
        f"* Machine: {machine['cpu']}, {machine['cores']} cores, {machine['memoryGb']} GB, "
        f"{machine['kernel']}, data on {machine['fileSystem']}; load before the run "
        f"{machine['loadBefore']:.1f}",
        f"* Versions: {', '.join(f'{name} {value}' for name, value in versions.items() if value)}",
    ]
    if sync is not None:
        lines.append(f"* The disk's own fdatasync of a 4 KB append during the run: {sync:.2f} ms")
    return [*lines, ""]


def table(results: Results, rows: list[Row]) -> list[str]:
    columns = ["what", "Trapline", "Mailpit", "ratio", "to reach", "reached"]
    head_lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return head_lines + [line(results, row) for row in rows]


def line(results: Results, row: Row) -> str:
    ours, theirs = (results.median(row.id, name) for name in ("trapline", "mailpit"))
    met = {True: "yes", False: "**no**", None: "–"}[row.target.met(ours, theirs)]
    if ours is None and row.group in results.failures:
        met = f"not measured: {results.failures[row.group]}"
    ratio = f"{number(ours / theirs)} ×" if ours is not None and theirs else "–"
    values = [f"{number(value)} {row.unit}" if value is not None else "–" for value in (ours, theirs)]
    return f"| {row.what} | {values[0]} | {values[1]} | {ratio} | {row.target.text} | {met} |"


def number(value: float) -> str:
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 0.1 else f"{value:.3f}"


METHOD = """\
Values are medians over the rounds; ratio is Trapline's value divided by Mailpit's.

## Method

* Both are built and started by the run: `cargo build --profile dist`; `go install` of the version above with
  `--max 0` (keeps everything), a database file, and without reverse look-ups. Both write to the same disk, and the disk is
  synced before each start. Mailpit does not sync at all; "synced" is Trapline's default, where 250 means that the message
  survives a power cut, and `--durability process` is the same promise for a crash of the process.
* Messages are multipart with text, HTML and an attachment, 6 KB, and each has other random content. The load comes from
  `smtpblast` on the same machine and the same cores. Throughput runs have a new server and an empty store each, no AUTH and,
  where a row does not say so, no pipelining; their messages are spread over 64 inboxes by address. `smtpblast` itself takes
  about 0.07 ms of CPU per message (0.15 ms with a connection each), which limits what a small machine can show.
* A transaction is the time from MAIL to the reply after the content, without connecting. CPU is utime + stime of the
  server's process up to one second after the run, so that work put off is counted. Memory is VmRSS, mapped files included.
* Written to the disk is `write_bytes` of `/proc/PID/io`, from before the first connection to the last answer.
* List, search and raw: one kept connection, answers read whole and checked; each search is for a word that is in one
  subject of the store.
* 250 to answer: one process receives both, and the times are the kernel's for their last packets; below zero the answer
  was there before the 250. Mailpit's value is its websocket's.
* Idle connections: up to the reply to EHLO, then held; each answered a NOOP afterwards. Mailpit takes 1,000 at most and
  has no value here.
* Webhooks: `hooksink` on the same machine takes the calls and notes when each was read; the 250's time is the kernel's.
  One at a time is 30 mails a second over one connection. "As installed" is after a burst of 20,000 mails (Mailpit:
  5,000): Mailpit makes one call a second and drops the others; its other values are with `--webhook-limit 0`, which is no
  limit. Server CPU per delivery is what the burst costs more than the same mails without a webhook. The endpoint that never
  answers is held against the same 100 endpoints without it in the same round; each is a host of its own. The 100,000
  retries, measured once, are of 100 endpoints that answer 503; lateness is the second call's time after the
  `nextAttemptAt` of the delivery log, once for another endpoint while they wait, and once when they come due themselves.
* Disk: what the data folder takes after an orderly stop. Memory after 100,000 messages and the disposable inboxes are
  measured once, not in rounds.
* Raw results of the last run: `bench/results/latest.json`. Single groups: `bench/run.py --only synced,api --quick`.
"""
