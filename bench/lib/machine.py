"""The machine: what it is, how quickly its disk syncs, and what a process uses."""

import os
import resource
import statistics
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
APPEND_BYTES = 4096


@dataclass(frozen=True)
class Usage:
    """CPU time of all threads in ms, memory in MB (10^6 bytes)."""

    cpu_ms: float
    rss_mb: float
    peak_mb: float
    anonymous_mb: float


def usage(pid: int) -> Usage:
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines if ":" in line)
    megabytes = lambda name: int(status[name].split()[0]) * 1024 / 1e6
    cpu_ms = (int(stat[11]) + int(stat[12])) * 1000 / TICKS_PER_SECOND
    return Usage(cpu_ms, megabytes("VmRSS"), megabytes("VmHWM"), megabytes("RssAnon"))


def written_bytes(pid: int) -> int:
    """Bytes that a process has caused to be written to a disk so far, in whole pages of memory."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["write_bytes"])


def total(usages: Iterable[Usage]) -> Usage:
    """The sum of what several processes use."""
    fields = ("cpu_ms", "rss_mb", "peak_mb", "anonymous_mb")
    usages = list(usages)
    return Usage(*(sum(getattr(usage, field) for usage in usages) for field in fields))


def raise_file_limit() -> None:
    """Ten thousand connections need as many descriptors, here and in the servers that inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def fdatasync_ms(folder: Path, times: int = 200) -> float:
    """Median time of one 4 KB append with fdatasync."""
    path, took = folder / "fdatasync", []
    with open(path, "wb", buffering=0) as file:
        for _ in range(times):
            file.write(os.urandom(APPEND_BYTES))
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - begun) * 1000)
    path.unlink()
    return statistics.median(took)


def disk_bytes(folder: Path) -> int:
    """Bytes on disk of all files of a folder, as du counts them, but Trapline's reserve, which never grows."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "reserve")
    return sum(path.stat().st_blocks * 512 for path in files)


def facts(folder: Path) -> dict:
    cpuinfo = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": models[0] if models else os.uname().machine,
        "cores": len(os.sched_getaffinity(0)),
        "memoryGb": round(memory / 1e9, 1),
        "kernel": f"{os.uname().sysname} {os.uname().release}",
        "fileSystem": file_system(folder),
        "loadBefore": os.getloadavg()[0],
    }


def file_system(folder: Path) -> str:
    """Type of the file system that holds a folder."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    folder = folder.resolve()
    holding = [(len(point), kind) for point, kind in mounts if folder.is_relative_to(point)]
    return max(holding)[1] if holding else "unknown"
