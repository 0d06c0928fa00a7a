"""Throughput, CPU and latency of receiving. Every run has a new server with an empty store.

No AUTH and, where a row does not say so, no pipelining, because both systems then see the same
bytes; messages are spread by address over as many inboxes as hold them all, so that nothing is
evicted.
"""

from .. import build, machine
from ..blast import blast, recipients
from ..plan import Plan
from ..rows import Results
from ..servers import SYSTEMS

INBOXES = 64


def run(name: str, durability: str, *options: object) -> dict:
    with SYSTEMS[name](durability) as server:
        inboxes = recipients(server, server.inboxes(INBOXES))
        before = machine.written_bytes(server.process.pid)
        report = blast(server, *inboxes, *options)
        written = machine.written_bytes(server.process.pid) - before
        return report | {"writtenKbPerMessage": written / 1000 / max(report["accepted"], 1)}


def synced(plan: Plan, results: Results) -> None:
    kinds = {
        "16": ["--connections", 16],
        "64": ["--connections", 64],
        "64-pipelined": ["--connections", 64, "--pipelining"],
    }
    for kind, options in plan.rounds_of(kinds.items()):
        reports = throughput(plan, results, "synced", kind, options)
        if kind == "64":
            for name, report in reports.items():
                results.add("written-64", name, report["writtenKbPerMessage"])
        results.note("synced", "disk", fdatasyncMs=machine.fdatasync_ms(build.WORK))


def process(plan: Plan, results: Results) -> None:
    kinds = {
        "1": ["--connections", 1],
        "16": ["--connections", 16],
        "16-pipelined": ["--connections", 16, "--pipelining"],
        "new": ["--connections", 16, "--per-connection", 1],
    }
    for kind, options in plan.rounds_of(kinds.items()):
        for name, report in throughput(plan, results, "process", kind, options).items():
            results.add(f"cpu-{kind}", name, report["server"]["cpuMsPerMessage"])


def throughput(plan: Plan, results: Results, group: str, kind: str, options: list) -> dict[str, dict]:
    """Each system once; their reports."""
    durability = "power" if group == "synced" else group
    reports = {}
    for name in plan.systems:
        report = run(name, durability, *options, "--duration", plan.pick(8, 2))
        keep(results, group, name, report)
        results.add(f"{group}-{kind}", name, report["acceptedPerSecond"])
        reports[name] = report
    return reports


def p99(plan: Plan, results: Results) -> None:
    options = ["--connections", 512, "--duration", plan.pick(15, 4), "--timeout", 120]
    for name in plan.rounds_of(plan.systems):
        report = run(name, "power", *options)
        keep(results, "p99", name, report)
        results.add("p99-512", name, report["transactionMs"]["p99"])


def keep(results: Results, group: str, name: str, report: dict) -> None:
    results.note(group, name, report=report)
    if report["errors"]:
        print(f"  {name}: errors {report['errors']}", flush=True)
