"""One server as a child process that never outlives this one."""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent / ".tools"
START_WITHIN = 240
END_WITHIN = 3
PAUSE = 0.1
TAIL_LINES = 40
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class Failure(Exception):
    """A service that is not as it should be; the text is for whoever runs the tests."""


class Service:
    """A server with a folder of its own. Subclasses say how it is started and when it is ready."""

    def __init__(self, name: str, folder: Path, ip: str) -> None:
        self.name = name
        self.folder = folder / name
        self.ip = ip
        self.log = self.folder / "log"
        # What it leaves behind outside its folder.
        self.litter: list[Path] = []
        self.process: subprocess.Popen[bytes] | None = None
        self.paused = False
        self.log_start = 0

    def command(self) -> list[str]:
        """The command line; it runs in the service's folder."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Writes what the server reads when it starts."""

    def ready(self) -> bool:
        """Whether it serves. Takes a second at most, and may raise OSError instead of False."""
        raise NotImplementedError

    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None and not self.paused

    def pid(self) -> int | None:
        return self.process.pid if self.process else None

    def start(self) -> None:
        """Starts it over what its folder holds; only from the main thread, for the kernel ends the
        child with the thread that started it."""
        if self.process and self.process.poll() is None:
            raise Failure(f"{self.name} runs already")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.prepare()
        self.log_start = self.log_size()
        parent = os.getpid()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # An interrupt at the terminal is this process's to handle.
                start_new_session=True,
                preexec_fn=lambda: die_with(parent),
            )
        self.paused = False

    def signal(self, number: signal.Signals) -> None:
        """To the server and what it has started."""
        if not self.process or self.process.poll() is not None:
            raise Failure(f"{self.name} does not run")
        # It leads a group of its own.
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """Ends it as a crash would."""
        self.signal(signal.SIGKILL)
        assert self.process
        self.process.wait()

    def finish(self) -> None:
        """Asks it to end, and waits until it has."""
        self.signal(signal.SIGTERM)
        assert self.process
        self.process.wait(timeout=START_WITHIN)

    def pause(self) -> None:
        """Makes it silent: connections stay open, and nothing is answered."""
        self.signal(signal.SIGSTOP)
        self.paused = True

    def resume(self) -> None:
        self.signal(signal.SIGCONT)
        self.paused = False

    def log_size(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def log_since(self, offset: int) -> str:
        with self.log.open("rb") as log:
            log.seek(offset)
            return log.read().decode(errors="replace")

    def log_tail(self) -> str:
        lines = self.log_since(0).splitlines() if self.log.exists() else []
        return "\n".join(lines[-TAIL_LINES:])


def die_with(parent: int) -> None:
    """Runs in the child: has the kernel kill it when its parent is gone, however it went."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def start_all(services: Iterable[Service]) -> None:
    """Starts all at once, and returns when all are ready."""
    waiting = list(services)
    for service in waiting:
        service.start()
    deadline = time.monotonic() + START_WITHIN
    while waiting:
        waiting = [service for service in waiting if not is_ready(service)]
        if waiting and time.monotonic() > deadline:
            late = waiting[0]
            raise Failure(f"{late.name} is not ready in {START_WITHIN} s:\n{late.log_tail()}")
        time.sleep(PAUSE)


def is_ready(service: Service) -> bool:
    if not service.running():
        raise Failure(f"{service.name} has ended by itself; its log ends:\n{service.log_tail()}")
    with contextlib.suppress(OSError):
        return service.ready()
    return False


def end_all(services: Iterable[Service]) -> None:
    """Asks all to end, then makes them."""
    running = [service.process for service in services if service.process]
    for number in (signal.SIGTERM, signal.SIGCONT):
        for process in running:
            process.send_signal(number)
    deadline = time.monotonic() + END_WITHIN
    for process in running:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
    for process in running:
        process.wait()
