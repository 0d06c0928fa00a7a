#!/usr/bin/env python3
"""The components of the executable as CycloneDX 1.5 has them: every crate that is linked, with its licence and the checksum
of its package, and the packages of the web console.

    packaging/sbom.py TARGET > sbom.cdx.json

TARGET is a target of rustc, such as x86_64-unknown-linux-gnu.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONSOLE = ROOT / "libs" / "console" / "web" / "package-lock.json"
OURS = "trapline"


def metadata(target: str) -> dict:
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)


def linked(found: dict) -> dict[str, list[str]]:
    """What is linked into the executable: the id of each crate, and those of the crates that it uses itself."""
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    [first] = [it["id"] for it in found["packages"] if it["name"] == OURS]
    seen, waiting = {}, [first]
    while waiting:
        crate = waiting.pop()
        if crate in seen:
            continue
        deps = nodes[crate]["deps"]
        seen[crate] = sorted(
            dep["pkg"] for dep in deps if any(kind["kind"] is None for kind in dep["dep_kinds"])
        )
        waiting += seen[crate]
    return seen


def checksums() -> dict[tuple[str, str], str]:
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    return {(it["name"], it["version"]): it["checksum"] for it in lock["package"] if "checksum" in it}


def crate(package: dict, sums: dict[tuple[str, str], str]) -> dict:
    name, version = package["name"], package["version"]
    url = f"pkg:cargo/{name}@{version}"
    found = {"type": "library", "name": name, "version": version, "purl": url, "bom-ref": url}
    if package.get("license"):
        # The form of Cargo before it took SPDX's.
        found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if (name, version) in sums:
        found["hashes"] = [{"alg": "SHA-256", "content": sums[name, version]}]
    return found


def console() -> list[dict]:
    """The packages that the web console is built from and has in its files."""
    if not CONSOLE.exists():
        return []
    found = []
    for path, package in json.loads(CONSOLE.read_text())["packages"].items():
        if path and not package.get("dev") and not package.get("optional"):
            name = path.rpartition("node_modules/")[2]
            url = f"pkg:npm/{name.replace('@', '%40', 1)}@{package['version']}"
            one = {"type": "library", "name": name, "version": package["version"], "purl": url, "bom-ref": url}
            if package.get("license"):
                one["licenses"] = [{"expression": package["license"]}]
            found.append(one)
    return found


def bom(target: str) -> dict:
    found = metadata(target)
    packages = {it["id"]: it for it in found["packages"]}
    uses, sums = linked(found), checksums()
    crates = {it: crate(packages[it], sums) for it in uses}
    [first] = [it for it in crates if packages[it]["name"] == OURS]
    main = {**crates.pop(first), "type": "application"}
    every = sorted([*crates.values(), *console()], key=lambda it: it["purl"])
    reference = {first: main["bom-ref"]} | {it: one["bom-ref"] for it, one in crates.items()}
    edges = [{"ref": reference[it], "dependsOn": [reference[dep] for dep in deps]} for it, deps in uses.items()]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": main, "properties": [{"name": "target", "value": target}]},
        "components": every,
        "dependencies": sorted(edges, key=lambda it: it["ref"]),
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    json.dump(bom(sys.argv[1]), sys.stdout, indent=1, sort_keys=True)
    print()
