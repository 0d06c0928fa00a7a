"""What one of many costs."""

import statistics
import time
from collections.abc import Callable

from .servers import Server


def cpu(server: Server, act: Callable[[], object], times: int) -> float:
    """CPU of the server in ms for each."""
    before = server.usage().cpu_ms
    for _ in range(times):
        act()
    return (server.usage().cpu_ms - before) / times


def timed(act: Callable[[], object]) -> float:
    """How long it took, in ms."""
    began = time.monotonic()
    act()
    return (time.monotonic() - began) * 1000


def spread(values: list[float], unit: str = "") -> str:
    """The median, and from where to where they are."""
    return f"{statistics.median(values):.3f}{unit} ({min(values):.3f} to {max(values):.3f})"
