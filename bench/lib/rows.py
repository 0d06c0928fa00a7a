"""The rows of the table: what is measured, and what is to be reached."""

import statistics
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Target:
    """A bound on Trapline's value, or on it divided by Mailpit's; `None` is for the record only."""

    text: str
    at_least_ratio: float | None = None
    at_most_ratio: float | None = None
    at_most: float | None = None
    at_least: float | None = None

    def met(self, ours: float | None, theirs: float | None) -> bool | None:
        """Whether it is reached; `None` when a value is missing or nothing is asked."""
        bounds = (self.at_least_ratio, self.at_most_ratio, self.at_most, self.at_least)
        if ours is None or all(bound is None for bound in bounds):
            return None
        if self.at_most is not None:
            return ours <= self.at_most
        if self.at_least is not None:
            return ours >= self.at_least
        if not theirs:
            return None
        ratio = ours / theirs
        if self.at_least_ratio is not None:
            return ratio >= self.at_least_ratio
        return ratio <= self.at_most_ratio


@dataclass(frozen=True)
class Row:
    id: str
    group: str
    what: str
    unit: str
    target: Target


def at_least(times: float) -> Target:
    return Target(f"≥ {times:g} × Mailpit", at_least_ratio=times)


def no_less(value: float, unit: str) -> Target:
    return Target(f"≥ {value:,g} {unit}", at_least=value)


def below(times: float, text: str) -> Target:
    return Target(text, at_most_ratio=times)


def at_most(value: float, unit: str) -> Target:
    return Target(f"≤ {value:g} {unit}", at_most=value)


RECORD = Target("–")
TWENTIETH = below(1 / 20, "≤ 1/20 of Mailpit")

ROWS = [
    Row("synced-16", "synced", "accepted and synced, 16 connections", "msg/s", at_least(5)),
    Row("synced-64", "synced", "accepted and synced, 64 connections", "msg/s", at_least(10)),
    Row("written-64", "synced", "written to the disk for one of them, 64 connections", "KB",
        at_most(14, "KB")),
    Row("synced-64-pipelined", "synced", "the same with PIPELINING, which Mailpit does not offer",
        "msg/s", RECORD),
    Row("process-1", "process", "`--durability process`, 1 connection", "msg/s", at_least(5)),
    Row("process-16", "process", "`--durability process`, 16 connections", "msg/s", at_least(15)),
    Row("process-16-pipelined", "process", "the same with PIPELINING", "msg/s", RECORD),
    Row("process-new", "process", "`--durability process`, one connection per message, 16 at once",
        "msg/s", at_least(8)),
    Row("cpu-16", "process", "server CPU per message, 16 connections", "ms", at_most(0.15, "ms")),
    Row("cpu-new", "process", "server CPU per message, one connection per message", "ms",
        at_most(0.35, "ms")),
    Row("p99-512", "p99", "p99 of a transaction, 512 connections, synced", "ms", TWENTIETH),
    Row("list", "api", "list page 1 of 10,000 stored, p50", "ms", below(1, "≤ Mailpit")),
    Row("search", "api", "search for a rare subject over 10,000 in one inbox, p50", "ms", TWENTIETH),
    Row("raw", "api", "raw message, p50", "ms", below(2, "≤ 2 × Mailpit")),
    Row("wait-p50", "live", "250 to the answer of a parked wait, p50", "ms", at_most(2, "ms")),
    Row("wait-p99", "live", "250 to the answer of a parked wait, p99", "ms", at_most(10, "ms")),
    Row("sse-p50", "live", "250 to the server-sent event, p50", "ms", at_most(2, "ms")),
    Row("sse-p99", "live", "250 to the server-sent event, p99", "ms", at_most(10, "ms")),
    Row("memory-100k", "memory", "memory after 100,000 messages over 1,000 inboxes", "MB",
        at_most(100, "MB")),
    Row("memory-idle", "idle", "memory with 5,000 idle SMTP connections", "MB", at_most(100, "MB")),
    Row("memory-waits", "waits", "memory with 10,000 parked waits", "MB", at_most(100, "MB")),
    Row("waits-cpu", "waits", "CPU of 10,000 parked waits, per second", "ms", RECORD),
    Row("disk", "api", "disk per 6 KB message, 10,000 stored", "KB", below(0.9999, "< Mailpit")),
    Row("create", "inboxes", "100,000 disposable inboxes: server CPU to create one", "ms",
        at_most(1, "ms")),
    Row("living", "inboxes", "CPU per second while 100,000 wait to expire", "ms", RECORD),
    Row("expire", "inboxes", "server CPU to expire and remove one", "ms", RECORD),
    Row("list-inboxes-cold", "lists", "list of 10,000 inboxes right after a start", "ms",
        at_most(2000, "ms")),
    Row("list-inboxes", "lists", "the same again, p50", "ms", at_most(300, "ms")),
    Row("kept-commits", "kept", "durable commits a minute with 1,000,000 messages kept", "per min",
        at_most(1, "per min")),
    Row("kept-cpu", "kept", "CPU per second with 1,000,000 messages kept", "ms", at_most(1, "ms")),
    Row("grown", "grown", "memory after 2,000,000 requests and mails, less that after 200,000",
        "MB", at_most(5, "MB")),
    Row("hook-p50", "webhooks", "250 to the webhook's endpoint, p50", "ms", at_most(5, "ms")),
    Row("hook-p99", "webhooks", "250 to the webhook's endpoint, p99", "ms", at_most(25, "ms")),
    Row("hook-busy-p50", "webhooks", "the same at 200 mails a second, p50", "ms",
        at_most(5, "ms")),
    Row("hook-busy-p99", "webhooks", "the same at 200 mails a second, p99", "ms",
        at_most(25, "ms")),
    Row("hook-called", "webhooks", "webhook calls made of those due after a burst, as installed",
        "%", no_less(100, "%")),
    Row("hook-backlog", "webhooks", "deliveries a second, 2,000 mails to each of 10 endpoints",
        "per s", no_less(3000, "per s")),
    Row("hook-burst", "webhooks", "deliveries a second to one endpoint, during and after a burst",
        "per s", RECORD),
    Row("hook-cpu", "webhooks", "server CPU per delivery of that burst", "ms", RECORD),
    Row("hook-dead-p99", "webhooks", "p99 to 100 endpoints beside one that never answers",
        "ms", RECORD),
    Row("hook-dead", "webhooks", "the same divided by their p99 without it", "×",
        at_most(1.5, "×")),
    Row("hook-held", "webhooks", "memory with 100,000 retries scheduled", "MB",
        at_most(100, "MB")),
    Row("hook-held-cpu", "webhooks", "CPU per second while they wait", "ms", RECORD),
    Row("hook-late-p50", "webhooks", "lateness of a retry beside them, p50", "ms", RECORD),
    Row("hook-late-p99", "webhooks", "lateness of a retry beside them, p99", "ms", RECORD),
    Row("hook-late-busy", "webhooks", "lateness of retries when the 100,000 come due, p99", "ms",
        RECORD),
    Row("relay-none", "relay", "received, 16 connections, nothing forwarded", "msg/s", RECORD),
    Row("relay-working", "relay", "the same, all inboxes forward, the relay works", "msg/s", RECORD),
    Row("relay-silent", "relay", "the same, the relay takes connections and never answers",
        "msg/s", RECORD),
    Row("relay-ratio", "relay", "the last divided by the one before", "×", no_less(0.9, "×")),
]

GROUPS = list(dict.fromkeys(row.group for row in ROWS))


@dataclass
class Results:
    """Values by row and system, one a round, and whatever else was seen."""

    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    details: dict[str, list[dict]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, row: str, system: str, value: float) -> None:
        self.values.setdefault(row, {}).setdefault(system, []).append(value)

    def note(self, group: str, system: str, **seen: object) -> None:
        self.details.setdefault(group, []).append({"system": system, **seen})

    def median(self, row: str, system: str) -> float | None:
        values = self.values.get(row, {}).get(system)
        return statistics.median(values) if values else None

    def median_of_notes(self, group: str, key: str) -> float | None:
        found = [note[key] for note in self.details.get(group, []) if key in note]
        return statistics.median(found) if found else None
