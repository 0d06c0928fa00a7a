"""What 10,000 messages a second need, derived from what was measured and stated assumptions: those of
docs/operate/capacity.json, which the calculator beside it reads too."""

import json
import math
from dataclasses import dataclass

from . import build
from .page import number

FILE = build.ROOT / "docs" / "operate" / "capacity.json"
CAPACITY = json.loads(FILE.read_text())
ASSUMED_OF, DOLLARS = CAPACITY["assumed"], CAPACITY["dollars"]

RATE, MESSAGE_BYTES, KEPT_DAYS = (ASSUMED_OF[name] for name in ("rate", "bytes", "days"))
ROW_BYTES, REPLICAS = ASSUMED_OF["rowBytes"], ASSUMED_OF["replicas"]
# Machines are planned to be this busy.
BUSY = ASSUMED_OF["busy"]
SECONDS, HOURS = 2_628_000, 730
# Groups that one smtp process writes at a time, and the time S3 takes for a PUT.
IN_FLIGHT, PUT_SECONDS = ASSUMED_OF["inFlight"], ASSUMED_OF["putSeconds"]

POD_CORES = ASSUMED_OF["podCores"]
NODE_CORES, NODE_DISK_TB = ASSUMED_OF["nodeCores"], ASSUMED_OF["nodeTb"]
# US dollars: a core of a general machine (2 GB each) and of one for storage (8 GB and an NVMe disk)
# by the hour; a million PUTs; a GB of S3 by the month; a GB from one zone to another.
CORE, STORAGE_CORE = DOLLARS["coreHour"], DOLLARS["storageCoreHour"]
MILLION_PUTS, STORED_GB, ZONES_GB = (DOLLARS[name] for name in ("millionPuts", "storedGb", "zonesGb"))

ASSUMED = f"""\
Assumed: {RATE:,} messages of {MESSAGE_BYTES:,} bytes a second, day and night, each kept for {KEPT_DAYS} day, waited for by one client
and heard of by one event stream; machines that are {BUSY:.0%} busy; {REPLICAS} copies of each row, of {ROW_BYTES:,} bytes; {PUT_SECONDS * 1000:.0f} ms for a
PUT. Prices: ${CORE} an hour for a core with 2 GB; ${STORAGE_CORE} for a core with 8 GB and its part of a local disk; S3 at
${MILLION_PUTS:g} a million PUTs and ${STORED_GB} a GB and month; ${ZONES_GB} a GB between zones."""


@dataclass(frozen=True)
class Line:
    """A kind of machine or a bill: how the need is derived, what is bought, and dollars a month."""

    what: str
    derivation: str
    size: str
    dollars: float


def keep(found: dict) -> None:
    """Writes what was measured of these parts into the file; the others stay as they were."""
    measured, origins = CAPACITY["measured"], CAPACITY["origins"]
    if "throughput" in found:
        cpu = found["throughput"]["runs"][0]["cpu"]
        measured |= {f"{name}Ms": cpu[name] for name in ("smtp", "worker", "redis")}
        measured["cqlMs"] = cpu["cassandra"]
    if "parked" in found:
        measured["wakeMs"] = found["parked"]["wakeMs"]
    if "cost" in found:
        steps = [step for step in found["cost"]["steps"] if step["what"].endswith(" inboxes")]
        each = steps[-1]["perMessage"]
        measured |= {name: each[name] for name in ("puts", "publishes")}
        measured["redisCommands"] = each["redis"]
    for part in origins.keys() & found.keys():
        about = found[part]["about"]
        machine, commit = about["machine"], about["versions"].get("commit", "")
        memory = f"{machine['cores']} cores, {machine['memoryGb']} GB"
        origins[part] = f"{about['date'][:10]}, commit {commit}, {machine['cpu']}, {memory}"
    FILE.write_text(json.dumps(CAPACITY, indent=2, ensure_ascii=False) + "\n")


def section(measured: dict) -> list[str]:
    lines = lines_of(measured)
    total = sum(line.dollars for line in lines)
    rows = [
        f"| {line.what} | {line.derivation} | {line.size} | {line.dollars:,.0f} |" for line in lines
    ]
    millions = RATE * SECONDS / 1e6
    return [
        f"### What {RATE:,} messages a second need, on paper",
        "",
        "| what | derivation | size | $ a month |",
        "|---|---|---|--:|",
        *rows,
        f"| all | ${total / millions:.2f} a million messages | | **{total:,.0f}** |",
        "",
        ASSUMED,
        "",
    ]


def lines_of(measured: dict) -> list[Line]:
    smtp = measured["smtpMs"]
    return [
        machines("`trapline smtp`", smtp, POD_CORES),
        machines("`trapline api`", measured["wakeMs"], POD_CORES),
        Line(
            "`trapline worker`",
            f"{number(measured['workerMs'])} ms of CPU a message without webhooks",
            "2 of 2 cores, and what deliveries need",
            4 * CORE * HOURS,
        ),
        cql(measured["cqlMs"]),
        redis(measured["redisMs"], measured["redisCommands"]),
        Line(
            "NATS",
            f"{number(RATE * measured['publishes'])} publishes a second without webhooks",
            "3 of 2 cores",
            6 * CORE * HOURS,
        ),
        puts(measured["puts"], count(smtp, POD_CORES)),
        stored(),
        between_zones(),
    ]


def cores(ms: float) -> float:
    return RATE * ms / 1000 / BUSY


def count(ms: float, each: int) -> int:
    """One more than is needed, so that one may fail."""
    return math.ceil(cores(ms) / each) + 1


def derived(ms: float) -> str:
    return f"{RATE:,} × {number(ms)} ms / {BUSY:.0%} = {number(cores(ms))} cores"


def machines(what: str, ms: float, each: int) -> Line:
    needed = count(ms, each)
    return Line(what, derived(ms), f"{needed} of {each} cores", needed * each * CORE * HOURS)


def cql(ms: float) -> Line:
    """Every copy of a row costs what the only one of the measured node does."""
    needed = cores(ms * REPLICAS)
    terabytes = RATE * 86_400 * KEPT_DAYS * ROW_BYTES * REPLICAS / 1e12
    by_disk = terabytes / NODE_DISK_TB / BUSY
    nodes = math.ceil(max(needed / NODE_CORES, by_disk) / REPLICAS) * REPLICAS
    derivation = (
        f"{RATE:,} × {number(ms)} ms × {REPLICAS} / {BUSY:.0%} = {number(needed)} cores; "
        f"{number(terabytes)} TB of rows"
    )
    size = f"{nodes} of {NODE_CORES} cores, {NODE_DISK_TB} TB"
    return Line("CQL", derivation, size, nodes * NODE_CORES * STORAGE_CORE * HOURS)


def redis(ms: float, commands: float) -> Line:
    """A Redis process has one core's worth of work; more shards come with Redis Cluster."""
    shards = math.ceil(cores(ms))
    derivation = f"{RATE * commands:,.0f} commands a second, {number(cores(ms))} cores"
    size = f"{shards} primary and {shards} replica of 2 cores"
    return Line("Redis", derivation, size, shards * 4 * CORE * HOURS)


def puts(per_message: float, pods: int) -> Line:
    """Groups grow while a PUT takes its time, so processes times groups in flight is a bound."""
    by_group, by_time = RATE * per_message, pods * IN_FLIGHT / PUT_SECONDS
    a_second = min(by_group, by_time)
    derivation = (
        f"the less of {RATE:,} × {number(per_message)} = {number(by_group)} a second and "
        f"{pods} pods × {IN_FLIGHT} / {PUT_SECONDS * 1000:.0f} ms = {number(by_time)}"
    )
    dollars = a_second * SECONDS / 1e6 * MILLION_PUTS
    return Line("S3 PUTs", derivation, f"{number(a_second)} a second", dollars)


def stored() -> Line:
    gigabytes = RATE * 86_400 * KEPT_DAYS * MESSAGE_BYTES / 1e9
    derivation = f"{RATE:,} × 86,400 s × {KEPT_DAYS} day × {MESSAGE_BYTES:,} bytes"
    return Line("S3 storage", derivation, f"{gigabytes:,.0f} GB", gigabytes * STORED_GB)


def between_zones() -> Line:
    gigabytes = RATE * SECONDS * ROW_BYTES * (REPLICAS - 1) / 1e9
    derivation = f"{RATE:,} a second × {ROW_BYTES:,} bytes × {REPLICAS - 1} other zones"
    return Line("rows between zones", derivation, f"{gigabytes:,.0f} GB", gigabytes * ZONES_GB)
