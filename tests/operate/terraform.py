"""Reads the modules and examples of Terraform as data."""

import functools
import re
from pathlib import Path

import hcl2

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "terraform"
# Written by providers.py.
PROVIDERS = Path(__file__).with_name("providers.json")
REFERENCE = re.compile(r"\b(var|local|module|data)\.([a-z_0-9]+)(?:\.([a-z_0-9]+))?")


def bare(text: object) -> str:
    """A label without the quotation marks that the parser keeps."""
    return str(text).strip('"')


def plain(node: object) -> object:
    """The tree with labels and texts as they are meant, without what the parser adds."""
    if isinstance(node, dict):
        return {bare(key): plain(value) for key, value in node.items() if not key.startswith("__")}
    if isinstance(node, list):
        return [plain(value) for value in node]
    return bare(node) if isinstance(node, str) else node


@functools.cache
def module(folder: Path) -> dict[str, list]:
    """All files of a folder as one, by the kind of the block."""
    found: dict[str, list] = {}
    for file in sorted(folder.glob("*.tf")):
        with file.open() as source:
            for kind, blocks in plain(hcl2.load(source)).items():
                found.setdefault(kind, []).extend(blocks)
    return found


def folders() -> list[Path]:
    """Every module and example."""
    return sorted(it for part in ("modules", "examples") for it in (FOLDER / part).iterdir())


def named(folder: Path, kind: str) -> dict[str, dict]:
    """Blocks with one label, such as variables, by it."""
    return {name: body for it in module(folder).get(kind, []) for name, body in it.items()}


def resources(folder: Path) -> list[tuple[str, str, str, dict]]:
    """Kind, type, name and body of each resource and data source."""
    return [
        (kind, type_, name, body)
        for kind in ("resource", "data")
        for it in module(folder).get(kind, [])
        for type_, inner in it.items()
        for name, body in inner.items()
    ]


def used() -> set[tuple[str, str]]:
    """Kind and type of all resources and data sources."""
    return {(kind, type_) for folder in folders() for kind, type_, _, _ in resources(folder)}


def text(folder: Path) -> str:
    """The source of a module, without comments."""
    lines = [it for file in sorted(folder.glob("*.tf")) for it in file.read_text().splitlines()]
    return "\n".join(it for it in lines if not it.strip().startswith("#"))
