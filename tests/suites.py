#!/usr/bin/env python3
"""Builds everything once and runs the test suites, with the time that each took.

    tests/suites.py                 all of them, as `make test` does
    tests/suites.py unit embedded   only these
    tests/suites.py faults          a cluster under load while parts of it fail, as FAULTS says
    tests/suites.py soak            a month in as many minutes as SOAK says, in both modes at once
    tests/suites.py build           builds and lints, and runs nothing

What a suite says of its failures is shown at its end; the others go on. `unit` and `embedded` need
no services; `conformance` and `cluster` share real ones, which start while the build and the others
run. PROOFS=full runs the long proofs whole, and in both modes what does not depend on the mode.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVICES = ROOT / "tests" / "services" / "run.py"
# Seconds that each suite took when docs/testing.md was written.
RECORD = ROOT / "tests" / "times.json"
# They run one after another: two side by side take two cores no less time, and what a browser or a client waits
# for comes late enough to fail.
SUITES = ("unit", "embedded", "conformance", "cluster")
NEED_SERVICES = {"conformance", "cluster", "soak"}
# Of the month that the endurance test lives through, if SOAK does not say.
SOAK_MINUTES = "3"
# Beyond this a run ends with a line that says what grew.
LONGEST = 60 * 60
# Packages whose unit tests run side by side: one for each core that CI has.
SIDE_BY_SIDE = 2
# Most of these tests wait for a clock, a browser or a service and leave the cores to others.
THREADS = {"embedded": 5, "conformance": 6, "cluster": 4}
# Foreign clients, the browser and the fuzzer meet the same code in both modes. What takes turns among
# processes for the status is shown beside the use cases.
SAME_IN_BOTH = (
    "browser::",
    "clients::",
    "idps::stacks::",
    "mocks::sdks::",
    "openapi::",
    "operate::",
    "schemathesis::",
    "status::",
)
IS_FULL = os.environ.get("PROOFS") == "full"
# Characters of what a failed suite says of its failures.
SHOWN = 40_000
RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed", re.MULTILINE)


class Failure(Exception):
    """A suite that failed; the text is for whoever runs the tests."""


@dataclasses.dataclass
class Binary:
    """An executable with tests, and the folder of its package, in which they run."""

    path: Path
    folder: Path

    def run(self, environment: dict[str, str], options: list[str]) -> int:
        """Runs its tests as libtest's options say, and returns how many passed."""
        command = [str(self.path), *options]
        with tempfile.NamedTemporaryFile("w+", errors="replace") as log:
            code = subprocess.call(
                command, cwd=self.folder, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
            log.seek(0)
            text = log.read()
        results = RESULT.findall(text)
        if code or not results:
            told = text[max(text.find("\nfailures:\n"), 0) :][:SHOWN]
            raise Failure(f"{self.path.name} ended with {code}:\n{told}")
        return sum(int(passed) for passed, _ in results)


def compile_all() -> list[dict]:
    """Builds everything through clippy, so that one pass compiles and lints; what cargo said of it.
    The product looks at a clock that tests move, where its environment names one."""
    environment = {
        **os.environ,
        "RUSTC_WORKSPACE_WRAPPER": "clippy-driver",
        "CLIPPY_ARGS": "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
    }
    command = [os.environ.get("CARGO", "cargo"), "build", "--workspace", "--all-targets"]
    command += ["--message-format=json-render-diagnostics", "--features", "trapline/test-clock"]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE)
    if done.returncode:
        raise Failure("the build failed")
    messages = map(json.loads, done.stdout.splitlines())
    return [message for message in messages if message.get("executable")]


def build() -> dict[str, list[Binary]]:
    """The tests by suite."""
    suites = {"e2e": "embedded", "cluster": "conformance", "faults": "faults", "soak": "soak"}
    found: dict[str, list[Binary]] = {}
    for message in compile_all():
        if message["profile"]["test"]:
            suite = suites.get(message["target"]["name"], "unit")
            folder = Path(message["manifest_path"]).parent
            found.setdefault(suite, []).append(Binary(Path(message["executable"]), folder))
    found["cluster"] = found["embedded"]
    return found


@contextlib.contextmanager
def services(wanted: bool) -> Iterator[subprocess.Popen[str] | None]:
    """Starts the services of a cluster, and ends them with the body. They say when they are ready."""
    if not wanted:
        yield None
        return
    running = subprocess.Popen(
        [str(SERVICES), "up"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield running
    finally:
        running.communicate()


class Run:
    """One run of suites, and what it found."""

    def __init__(self, tests: dict[str, list[Binary]], server: subprocess.Popen[str] | None):
        self.tests = tests
        self.server = server
        self.addresses: dict[str, str] = {}
        self.seconds: dict[str, float] = {}
        self.passed = self.failed = 0

    def suite(self, name: str) -> None:
        """Runs a suite to its end, and prints a line of it."""
        environment = {**os.environ, **self.settings(name)}
        options = [f"--skip={test}" for test in SAME_IN_BOTH] if name == "cluster" else []
        if IS_FULL:
            options = ["--include-ignored"]
        began = time.monotonic()
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            runs = [pool.submit(one.run, environment, options) for one in self.tests[name]]
        passed = sum(run.result() for run in runs if not run.exception())
        failures = [failure for run in runs if (failure := run.exception())]
        self.seconds[name] = time.monotonic() - began
        self.passed += passed
        self.failed += len(failures)
        for failure in failures:
            say(f"tests/suites.py: {name}: {failure}")
        word, took = "FAILED" if failures else "ok", f"{name} in {self.seconds[name]:.0f} s"
        say(f"test result: {word}. {passed} passed; {len(failures)} failed; {took}")

    def goes_on(self, part: Callable[[], None]) -> None:
        """Runs a part that takes long, also after one that failed: what there is to find is found in one run."""
        try:
            part()
        except Failure as failure:
            self.failed += 1
            say(f"tests/suites.py: {failure}")

    def faults(self) -> None:
        """Runs the fault tests, which show themselves what they find."""
        [faults] = self.tests["faults"]
        began = time.monotonic()
        environment = {**os.environ, "FAULTS": os.environ.get("FAULTS", "full")}
        if subprocess.call([str(faults.path)], cwd=faults.folder, env=environment):
            raise Failure("the fault tests failed")
        self.passed += 1
        self.seconds["faults"] = time.monotonic() - began

    def soak(self) -> None:
        """Runs the endurance test in both modes side by side."""
        [soak] = self.tests["soak"]
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="trapline-soak-") as folder:
            services = self.service_addresses()

            def month(mode: str) -> int:
                environment = {
                    **os.environ,
                    **services,
                    "SOAK": os.environ.get("SOAK", SOAK_MINUTES),
                    "MODE": mode,
                    "TRAPLINE_TEST_CLOCK": str(Path(folder) / mode),
                }
                return subprocess.call([str(soak.path)], cwd=soak.folder, env=environment)

            with ThreadPoolExecutor() as pool:
                codes = list(pool.map(month, ("embedded", "cluster")))
        self.seconds["soak"] = time.monotonic() - began
        if any(codes):
            raise Failure("the endurance test failed")
        self.passed += len(codes)

    def settings(self, name: str) -> dict[str, str]:
        settings = {"MODE": "cluster" if name == "cluster" else "embedded"}
        if name in THREADS:
            settings["RUST_TEST_THREADS"] = str(THREADS[name])
        if name in NEED_SERVICES:
            settings |= self.service_addresses()
        return settings

    def service_addresses(self) -> dict[str, str]:
        """Where the services are, once they are ready."""
        if not self.addresses:
            assert self.server and self.server.stdout
            line = self.server.stdout.readline()
            if not line:
                raise Failure("the services did not start")
            self.addresses = json.loads(line)["tests"]
        return self.addresses


def say(text: str) -> None:
    print(text, flush=True)


def report(seconds: dict[str, float]) -> None:
    """Each part's time beside the recorded one; what grew most, if all of it took too long."""
    recorded = json.loads(RECORD.read_text())
    for name, took in seconds.items():
        say(f"{name:12} {took:6.0f} s, recorded {recorded.get(name, 0):6.0f} s")
    total = sum(seconds.values())
    if total > LONGEST:
        grown = max(seconds, key=lambda name: seconds[name] - recorded.get(name, 0))
        say(f"This took {total / 60:.0f} minutes, of at most {LONGEST // 60}: {grown} grew most.")


def arguments() -> list[str]:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suite", nargs="*", help=", ".join((*SUITES, "faults", "soak", "build")))
    wanted = parser.parse_args().suite or list(SUITES)
    unknown = set(wanted) - {*SUITES, "faults", "soak", "build"}
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}")
    return wanted


def main() -> int:
    wanted = arguments()
    try:
        with services(bool(NEED_SERVICES.intersection(wanted))) as server:
            began = time.monotonic()
            run = Run(build(), server)
            run.seconds["build"] = time.monotonic() - began
            for name in SUITES:
                if name in wanted:
                    run.suite(name)
            for name, part in (("faults", run.faults), ("soak", run.soak)):
                if name in wanted:
                    run.goes_on(part)
            report(run.seconds)
    except Failure as failure:
        say(f"tests/suites.py: {failure}")
        return 1
    if run.passed or run.failed:
        say(f"{run.passed} passed, {run.failed} failed")
    return min(run.failed, 1)


if __name__ == "__main__":
    sys.exit(main())
