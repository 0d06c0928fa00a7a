"""Writes what was measured of a cluster: docs/scaling.md, docs/benchmarks.md, the raw JSON."""

import json
from collections.abc import Collection
from pathlib import Path

from . import build, sizing
from .page import number
from .parts import inboxes, webhooks
from .rows import at_most

RAW = build.BENCH / "results" / "cluster.json"
BEGIN, END = "<!-- cluster: begin -->", "<!-- cluster: end -->"
COMMAND = "make bench-cluster"

# Bounds on what a message costs.
COSTS = {
    "puts": ("S3 PUTs", at_most(0.1, "PUT")),
    "writes": ("CQL writes", at_most(2, "writes")),
    "reads": ("CQL reads", None),
    "publishes": ("NATS publishes", at_most(0.1, "publish")),
    "redis": ("Redis commands", at_most(3, "commands")),
}
LATENCY = at_most(20, "ms")
NAMES = {
    "smtp": "smtp",
    "api": "api",
    "worker": "worker",
    "cassandra": "Cassandra",
    "s3": "SeaweedFS",
    "redis": "Redis",
    "nats": "NATS",
}


def keep(found: dict) -> None:
    """Parts that were not measured now stay as they were."""
    old = json.loads(RAW.read_text()) if RAW.exists() else {}
    found = old | found
    RAW.parent.mkdir(parents=True, exist_ok=True)
    RAW.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    docs = build.ROOT / "docs"
    sizing.keep(found)
    put(docs / "scaling.md", report(found, SCALING) + sizing.section(sizing.CAPACITY["measured"]))
    put(docs / "benchmarks.md", bounds(found) + report(found, TABLES.keys() - SCALING))


def put(page: Path, lines: list[str]) -> None:
    """Replaces what is between the marks, and nothing else."""
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text("\n".join([before + BEGIN, *lines, END + after]))


def report(found: dict, parts: Collection[str]) -> list[str]:
    """The tables of these parts, each with where and when it was measured."""
    lines: list[str] = []
    for part, table in TABLES.items():
        if part in found and part in parts:
            lines += [*table(found[part]), "", origin(part, found[part]["about"]), ""]
    return lines


def origin(part: str, about: dict) -> str:
    machine, versions = about["machine"], about["versions"]
    told = ", ".join(f"{name} {value}" for name, value in versions.items() if value)
    return (
        f"`{COMMAND}` (alone: `bench/cluster.py --only {part}`), {about['date']}, "
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memoryGb']} GB, {machine['kernel']}, "
        f"data on {machine['fileSystem']}, load before the run {machine['loadBefore']:.1f}; {told}."
    )


def grid(head: list[str], rows: list[list[str]]) -> list[str]:
    marks = "|---" + "|--:" * (len(head) - 1) + "|"
    return [f"| {' | '.join(head)} |", marks, *(f"| {' | '.join(row)} |" for row in rows)]


def cost(part: dict) -> list[str]:
    heads = [name for name, _ in COSTS.values()]
    rows = [
        [step["what"], *(number(step["perMessage"][cost]) for cost in COSTS)]
        for step in part["steps"]
    ]
    bound = ["at most"] + [f"{target.at_most:g}" if target else "–" for _, target in COSTS.values()]
    title = f"### Operations per accepted message, {part['messages']:,} messages over 64 connections"
    return [title, "", *grid(["", *heads], [*rows, bound])]


def throughput(part: dict) -> list[str]:
    one, two = part["runs"]
    rows = [
        ["messages a second", number(one["perSecond"]), number(two["perSecond"])],
        ["transaction p50, ms", number(one["p50"]), number(two["p50"])],
        ["transaction p99, ms", number(one["p99"]), number(two["p99"])],
    ]
    rows += [
        [f"CPU of {name} per message, ms", number(one["cpu"][key]), number(two["cpu"][key])]
        for key, name in NAMES.items()
    ]
    title = f"### Throughput over {part['connections']} connections, all of it on one machine"
    return [title, "", *grid(["", "one smtp process", "two smtp processes"], rows)]


def parked(part: dict) -> list[str]:
    rows = [
        [
            f"api {place}",
            number(node["freshMb"]),
            number(node["rssMb"]),
            number(node["cpuMsPerSecond"]),
        ]
        for place, node in enumerate(part["api"], 1)
    ]
    head = ["process", "memory at the start, MB", "memory, MB", "CPU per second, ms"]
    return [
        f"### {part['waits']:,} parked waits and {part['streams']:,} event streams over "
        f"{len(part['api'])} api processes",
        "",
        *grid(head, rows),
        "",
        f"They come as quickly as they can, and are held for {part['holdSeconds']} s; together they read CQL {part['readsPerSecond']:.0f} times a "
        f"second. Then one message came to each of {part['messages']:,} inboxes, {part['perSecond']} a second: "
        f"{part['waitsSeconds']:.1f} s after the last was accepted every wait had its answer, and after "
        f"{part['allSeconds']:.1f} s every stream its event. "
        f"That took {number(part['wakeMs'])} ms of the api's CPU for each wait with a stream.",
    ]


def latency(part: dict) -> list[str]:
    rows = [
        [name, number(part[way]["p50"]), number(part[way]["p99"]), f"{LATENCY.at_most:g}"]
        for way, name in {"wait": "answer of a parked wait", "sse": "server-sent event"}.items()
    ]
    title = f"### From the 250 of an SMTP process to an API process's client, {part['times']} times"
    return [title, "", *grid(["to the", "p50, ms", "p99, ms", "p50 at most, ms"], rows)]


TABLES = {
    "cost": cost,
    "throughput": throughput,
    "parked": parked,
    "latency": latency,
    "webhooks": webhooks.table,
    "inboxes": inboxes.table,
}
# What operators size by; the other tables are for docs/benchmarks.md.
SCALING = {"cost", "parked", "latency"}


def bounds(found: dict) -> list[str]:
    """What is to be reached, and was or was not."""
    rows = []
    for step in found.get("cost", {}).get("steps", []):
        for key, (name, target) in COSTS.items():
            if target:
                what = f"{name} per message, {step['what']}"
                rows.append(bound(what, step["perMessage"][key], "", target))
    for way, name in {"wait": "the answer of a parked wait", "sse": "the server-sent event"}.items():
        if "latency" in found:
            what = f"250 of one process to {name} of another, p50"
            rows.append(bound(what, found["latency"][way]["p50"], " ms", LATENCY))
    origins = [origin(part, found[part]["about"]) for part in ("cost", "latency") if part in found]
    head = ["what", "cluster", "to reach", "reached"]
    return [*grid(head, rows), "", "\n\n".join(origins), ""]


def bound(what: str, value: float, unit: str, target: object) -> list[str]:
    met = "yes" if target.met(value, None) else "**no**"
    return [what, f"{number(value)}{unit}", target.text, met]
