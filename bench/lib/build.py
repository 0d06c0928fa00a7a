"""Builds what is measured."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
DIST = TARGET / "dist"
# Beside the build, so that data is on the same disk as the user's work and not on a tmpfs. Each run
# has its own, and removes it.
WORK = TARGET / f"bench-{os.getpid()}"
TOOLS = BENCH / ".tools"

MAILPIT = "v1.33.1"
MAILPIT_BINARY = TOOLS / "mailpit"
TRAPLINE_BINARY = DIST / "trapline"
SMTPBLAST_BINARY = DIST / "smtpblast"
HOOKSINK_BINARY = DIST / "hooksink"


@contextlib.contextmanager
def workspace() -> Iterator[None]:
    """An empty folder at `WORK` for the time of a run."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    try:
        yield
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


def build(systems: list[str]) -> None:
    packages = ["-p", "smtpblast", "-p", "hooksink"] + (["-p", "trapline"] if "trapline" in systems else [])
    subprocess.run(["cargo", "build", "--profile", "dist", *packages], cwd=ROOT, check=True)
    if "mailpit" in systems:
        mailpit()


def mailpit() -> None:
    installed("mailpit", f"github.com/axllent/mailpit@{MAILPIT}")


def installed(name: str, module: str) -> None:
    """Has a tool in Go, of this module at this version, in `TOOLS`."""
    if version_of(TOOLS / name) != module.partition("@")[2]:
        environment = os.environ | {"GOBIN": str(TOOLS)}
        subprocess.run(["go", "install", module], env=environment, check=True)


def version_of(tool: Path) -> str | None:
    """The version of the module that a tool was built from."""
    if not tool.exists():
        return None
    told = subprocess.run(["go", "version", "-m", tool], capture_output=True, text=True)
    modules = [line.split() for line in told.stdout.splitlines() if line.strip().startswith("mod")]
    return modules[0][2] if modules else None


def versions(systems: list[str]) -> dict[str, str]:
    run = lambda *command: subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    word = lambda text, at: (text.split() + [""] * 3)[at]
    found = {
        "commit": run("git", "rev-parse", "--verify", "--short", "--quiet", "HEAD"),
        "rustc": word(run("rustc", "--version"), 1),
    }
    if "trapline" in systems:
        found["trapline"] = word(run(str(TRAPLINE_BINARY), "--version"), 1)
    if "mailpit" in systems:
        found["mailpit"] = MAILPIT
        found["go"] = word(run("go", "version"), 2).removeprefix("go")
    return found
