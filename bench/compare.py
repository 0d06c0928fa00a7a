#!/usr/bin/env python3
"""Measures two builds of Trapline by turns, and prints the medians of both beside each other.

    bench/compare.py target/before/trapline target/dist/trapline --only synced,api

smtpblast and hooksink are those of the `dist` profile. Exits with 1 when a row is worse by more than
`--tolerance` percent, which says no more than: measure again, and longer.
"""

import argparse
import sys
from pathlib import Path

from lib import build, machine
from lib.groups import MEASURE
from lib.plan import Plan
from lib.rest import Failed
from lib.rows import GROUPS, ROWS, Results, Row

# Rows of which more is better; of all others less is.
RATES = {"msg/s", "1/s", "%"}


def main() -> int:
    arguments = parse()
    plan = Plan(["trapline"], 1, arguments.quick)
    machine.raise_file_limit()
    builds = {"before": arguments.before, "after": arguments.after}
    results = {name: Results() for name in builds}
    with build.workspace():
        worse = [group for group in arguments.only if compare(group, arguments, plan, builds, results)]
    return 1 if worse else 0


def compare(
    group: str,
    arguments: argparse.Namespace,
    plan: Plan,
    builds: dict[str, Path],
    results: dict[str, Results],
) -> bool:
    """Measures a group, prints its rows, and tells whether one is worse or could not be measured."""
    try:
        for number in range(arguments.rounds):
            # Who begins changes, since the second finds a warmer machine.
            for name in list(builds) if number % 2 == 0 else list(builds)[::-1]:
                build.TRAPLINE_BINARY = builds[name].resolve()
                print(f"{group}, round {number + 1}, {name} …", flush=True)
                MEASURE[group](plan, results[name])
    except Failed as failure:
        print(f"{group} failed: {failure}", flush=True)
        return True
    rows = [row for row in ROWS if row.group == group]
    return any([show(row, results, arguments.tolerance) for row in rows])


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, help="an executable")
    parser.add_argument("after", type=Path, help="an executable")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(GROUPS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a small run")
    parser.add_argument("--tolerance", type=float, default=10, help="percent; 10")
    arguments = parser.parse_args()
    if unknown := set(arguments.only) - set(GROUPS):
        parser.error(f"no such group: {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    return arguments


def show(row: Row, results: dict[str, Results], tolerance: float) -> bool:
    """Prints a row, and tells whether it is worse."""
    before, after = (results[name].median(row.id, "trapline") for name in ("before", "after"))
    if before is None or after is None:
        return False
    ratio = after / before if before else 1.0
    loss = (1 / ratio if ratio else 99.0) if row.unit in RATES else ratio
    is_worse = loss > 1 + tolerance / 100
    word = "  worse" if is_worse else ""
    print(f"| {row.what} | {row.unit} | {before:.4g} | {after:.4g} | {ratio:.2f} |{word}", flush=True)
    return is_worse


if __name__ == "__main__":
    sys.exit(main())
