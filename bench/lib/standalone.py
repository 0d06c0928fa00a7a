"""Scripts that measure one executable by themselves, apart from the pages of `make bench`."""

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

from . import build, machine


@contextlib.contextmanager
def measurement(document: str, **numbers: int) -> Iterator[argparse.Namespace]:
    """Reads the command line: the path of an executable, and a number for each of these options, which has this default.
    In the body the executable is the one that servers start, and there is a workspace."""
    parser = argparse.ArgumentParser(
        description=document, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("binary", type=Path, help="an executable")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{default} when left out")
    arguments = parser.parse_args()
    build.TRAPLINE_BINARY = arguments.binary.resolve()
    machine.raise_file_limit()
    with build.workspace():
        yield arguments
