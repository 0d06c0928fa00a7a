#!/usr/bin/env bash
# House rules that no other tool checks: the length of files, left-over macros, reasons for
# dependencies, and links within docs/.
set -euo pipefail
cd "$(dirname "$0")/.."

python3 - <<'PYTHON'
import pathlib
import re
import sys

LONGEST = 400
LEFT_OVER = re.compile(r"\b(todo|unimplemented|dbg)!")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
faults = []


def is_test(path):
    return path.name == "tests.rs" or "tests" in path.parts[1:-1]


def is_built(path):
    return any(part in ("target", ".tools", "node_modules") for part in path.parts)


def sources():
    for folder in ("libs", "bins", "tests"):
        yield from (path for path in pathlib.Path(folder).rglob("*.rs") if not is_built(path))


def check_source(path):
    lines = path.read_text().splitlines()
    if len(lines) > LONGEST and not is_test(path):
        faults.append(f"{path}: {len(lines)} lines, at most {LONGEST}")
    for number, line in enumerate(lines, 1):
        if LEFT_OVER.search(line.split("//")[0]):
            faults.append(f"{path}:{number}: left over: {line.strip()}")


def check_reasons():
    """Each dependency has a comment above it, or follows a relative that has one."""
    manifest = pathlib.Path("Cargo.toml").read_text()
    table = manifest.split("[workspace.dependencies]\n")[1].split("\n[")[0]
    family = ""
    for line in (line for line in table.splitlines() if line and "path = " not in line):
        name = line.split(" ")[0]
        if name == "#":
            family = ""
        elif family and family not in name:
            faults.append(f"Cargo.toml: what for is {name}?")
        elif not family:
            family = re.split("[-_]", name)[0]


def check_links(path):
    for target in LINK.findall(path.read_text()):
        file = target.split("#")[0]
        if file and "://" not in target and not (path.parent / file).exists():
            faults.append(f"{path}: no file at {target}")


for source in sources():
    check_source(source)
check_reasons()
for page in [*pathlib.Path("docs").rglob("*.md"), pathlib.Path("README.md")]:
    if page.exists():
        check_links(page)
print("\n".join(faults) or "tests/lint.sh: all is well")
sys.exit(bool(faults))
PYTHON
