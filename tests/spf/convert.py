#!/usr/bin/env python3
"""Writes rfc7208.json from the YAML of the test suite, with every record as DNS has it.

    pip download --no-deps --no-binary :all: pyspf==2.0.14 && tar xzf pyspf-2.0.14.tar.gz
    tests/spf/convert.py pyspf-2.0.14/test/rfc7208-tests.yml

Needs PyYAML, which tests/setup.sh installs into tests/.tools/python.
"""

import json
import sys
from pathlib import Path

import yaml


def records(name, entries):
    """A name's records. `SPF` stands for TXT, unless the name has TXT records of its own."""
    own = any("TXT" in entry for entry in entries if isinstance(entry, dict))
    for entry in entries:
        if entry == "TIMEOUT":
            yield {"name": name, "type": "TIMEOUT"}
            continue
        [(kind, value)] = entry.items()
        if kind == "SPF" and own or value == "NONE":
            continue
        if isinstance(value, list):
            value = " ".join(map(str, value)) if kind == "MX" else "".join(value)
        yield {"name": name, "type": "TXT" if kind == "SPF" else kind, "value": value}


def case(name, test):
    results = test["result"]
    return {
        "name": name,
        "host": test["host"],
        "helo": test["helo"],
        "mailfrom": test["mailfrom"],
        "results": results if isinstance(results, list) else [results],
    }


def main():
    scenarios = []
    for scenario in yaml.safe_load_all(Path(sys.argv[1]).read_bytes()):
        zone = scenario["zonedata"].items()
        scenarios.append(
            {
                "description": scenario["description"],
                "zone": [record for name, entries in zone for record in records(name, entries)],
                "tests": [case(name, test) for name, test in scenario["tests"].items()],
            }
        )
    out = Path(__file__).with_name("rfc7208.json")
    out.write_text(json.dumps(scenarios, indent=1) + "\n")


main()
