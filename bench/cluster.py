#!/usr/bin/env python3
"""Measures a cluster on this machine; writes docs/scaling.md and docs/benchmarks.md. See
`make bench-cluster`."""

import argparse
import datetime
import signal
import sys
import time

from lib import build, cluster_page, machine
from lib.cluster import Services, versions
from lib.parts import MEASURE
from lib.plan import Plan


def main() -> int:
    arguments = parse()
    plan = Plan(["trapline"], 1 if arguments.quick else arguments.rounds, arguments.quick)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    machine.raise_file_limit()
    if not arguments.no_build:
        build.build(plan.systems)
    with build.workspace():
        found, failures = measure(arguments.only, plan, describe(plan))
    print("\n".join(cluster_page.report(found, found)))
    if found and not plan.quick:
        cluster_page.keep(found)
    return 1 if failures else 0


def parse() -> argparse.Namespace:
    names = lambda text: text.split(",")
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--only", type=names, default=list(MEASURE), help=",".join(MEASURE))
    add("--quick", action="store_true", help="one round of a small run; writes nothing")
    add("--rounds", type=int, default=3, help="3")
    add("--no-build", action="store_true", help="takes the programs as they are")
    arguments = parser.parse_args()
    if unknown := set(arguments.only) - set(MEASURE):
        parser.error(f"no such part: {', '.join(unknown)}")
    return arguments


def describe(plan: Plan) -> dict:
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "rounds": plan.rounds,
        "machine": machine.facts(build.WORK),
        "versions": build.versions(plan.systems) | versions(),
    }


def measure(parts: list[str], plan: Plan, about: dict) -> tuple[dict, dict[str, str]]:
    """What was found, by part, and why others failed. Each part has services of its own."""
    found, failures = {}, {}
    for part in parts:
        begun = time.monotonic()
        print(f"{part} …", flush=True)
        try:
            with Services() as services:
                found[part] = {"about": about} | MEASURE[part](plan, services)
        except Exception as error:
            failures[part] = f"{type(error).__name__}: {error}"
            print(f"  failed: {failures[part]}", flush=True)
        print(f"  {time.monotonic() - begun:.0f} s", flush=True)
    return found, failures


if __name__ == "__main__":
    sys.exit(main())
