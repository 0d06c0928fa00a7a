#!/usr/bin/env python3
"""Measures Trapline beside Mailpit and writes docs/benchmarks.md. See `make bench`."""

import argparse
import datetime
import signal
import sys
import time

from lib import build, machine, page
from lib.groups import MEASURE
from lib.plan import Plan
from lib.rows import GROUPS, ROWS, Results
from lib.servers import SYSTEMS


def main() -> int:
    arguments = parse()
    rounds = arguments.rounds or (1 if arguments.quick else 3)
    plan = Plan(arguments.systems, rounds, arguments.quick)
    groups = chosen(arguments.only)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    machine.raise_file_limit()
    if not arguments.no_build:
        build.build(plan.systems)
    results = Results()
    with build.workspace():
        about = describe(plan)
        measure(groups, plan, results)
    show(results, groups)
    is_whole = groups == GROUPS and not plan.quick and set(plan.systems) == set(SYSTEMS)
    if is_whole or arguments.write:
        keep(results, about, is_whole)
    return 1 if results.failures else 0


def parse() -> argparse.Namespace:
    names = lambda text: text.split(",")
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--only", type=names, help="rows or groups, by commas; prints, and writes nothing")
    add("--quick", action="store_true", help="one round of a small run; writes nothing")
    add("--write", action="store_true", help="writes the results of such a run as well")
    add("--rounds", type=int, help="3, or 1 when quick")
    add("--systems", type=names, default=list(SYSTEMS), help=",".join(SYSTEMS))
    add("--no-build", action="store_true", help="takes the programs as they are")
    arguments = parser.parse_args()
    if unknown := set(arguments.systems) - set(SYSTEMS):
        parser.error(f"no such system: {', '.join(unknown)}")
    known = {*GROUPS, *(row.id for row in ROWS)}
    if unknown := set(arguments.only or []) - known:
        parser.error(f"no such row: {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return arguments


def chosen(only: list[str] | None) -> list[str]:
    """The groups that hold the rows asked for; rows of a group share their set-up."""
    if not only:
        return GROUPS
    groups = {row.group for row in ROWS if row.id in only or row.group in only}
    return [group for group in GROUPS if group in groups]


def describe(plan: Plan) -> dict:
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "rounds": plan.rounds,
        "quick": plan.quick,
        "machine": machine.facts(build.WORK),
        "versions": build.versions(plan.systems),
    }


def measure(groups: list[str], plan: Plan, results: Results) -> None:
    """A group that fails is reported in its rows and does not stop the others."""
    for group in groups:
        begun = time.monotonic()
        print(f"{group} …", flush=True)
        try:
            MEASURE[group](plan, results)
        except Exception as error:
            results.failures[group] = f"{type(error).__name__}: {error}"
            print(f"  failed: {results.failures[group]}", flush=True)
        print(f"  {time.monotonic() - begun:.0f} s", flush=True)


def show(results: Results, groups: list[str]) -> None:
    print("\n".join(page.table(results, [row for row in ROWS if row.group in groups])))
    sync = results.median_of_notes("synced", "fdatasyncMs")
    if sync is not None:
        print(f"\nfdatasync of a 4 KB append: {sync:.2f} ms")


def keep(results: Results, about: dict, is_whole: bool) -> None:
    """A partial run adds to what is there and leaves the description of the whole run alone."""
    if not is_whole:
        old, old_about = page.load()
        results, about = page.merge(old, results), old_about or about
    page.save(results, about)
    page.write(results, about)


if __name__ == "__main__":
    sys.exit(main())
