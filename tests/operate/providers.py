#!/usr/bin/env python3
"""Writes providers.json: what resources of Terraform that our modules use have, by the providers.

    pip download --no-deps -d FOLDER cdktn-provider-aws==25.8.1 cdktn-provider-helm==15.1.0 \
        cdktn-provider-kubernetes==17.1.0
    tests/operate/providers.py FOLDER

The packages are made from the schemas of hashicorp/aws 6.69.1, helm and kubernetes. They are read as
data and never imported. The provider random has too few resources for one: RANDOM is by its documentation.
"""

import ast
import json
import re
import sys
import zipfile
from pathlib import Path

import terraform

# What Terraform itself gives every resource.
META = {"connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioners"}
RANDOM = {
    "resource random_bytes": {"required": ["length"], "optional": ["keepers"], "blocks": {}},
    "resource random_password": {
        "required": ["length"],
        "optional": [
            *("keepers", "lower", "min_lower", "min_numeric", "min_special", "min_upper"),
            *("numeric", "override_special", "special", "upper"),
        ],
        "blocks": {},
    },
}


def data_types(source: str) -> dict[str, ast.ClassDef]:
    """The classes that describe blocks, by name."""
    classes = [it for it in ast.parse(source).body if isinstance(it, ast.ClassDef)]
    return {it.name: it for it in classes if mapping(it)}


def mapping(node: ast.ClassDef) -> ast.Dict | None:
    """The names that Terraform has for the attributes of a block, where the class describes one."""
    keywords = [it for one in node.decorator_list for it in getattr(one, "keywords", [])]
    return next((it.value for it in keywords if it.arg == "name_mapping"), None)


def attributes(node: ast.ClassDef) -> set[str]:
    """The attributes of a block."""
    found = mapping(node)
    return {key.value for key in found.keys} if found else set()


def block(classes: dict[str, ast.ClassDef], name: str) -> dict:
    """What a block has, with the blocks in it."""
    node = classes[name]
    [init] = [it for it in node.body if isinstance(it, ast.FunctionDef) and it.name == "__init__"]
    found = {"required": [], "optional": [], "blocks": {}}
    known = attributes(node)
    for argument, default in zip(init.args.kwonlyargs, init.args.kw_defaults):
        # Words that mean something in Python or JavaScript have an ending.
        attribute = argument.arg.rstrip("_").removesuffix("_attribute")
        if attribute in META or not {attribute, argument.arg} & known:
            continue
        found["required" if default is None else "optional"].append(attribute)
        inner = [it for it in re.findall(r"\w+", ast.unparse(argument.annotation)) if it in classes]
        if inner and inner[0] != name:
            found["blocks"][attribute] = block(classes, inner[0])
    return found


def read(wheel: Path, kind: str, resource: str) -> dict:
    """A resource or data source, out of the package of its provider."""
    short = resource.split("_", 1)[1]
    folder = f"data_{resource}" if kind == "data" else short
    with zipfile.ZipFile(wheel) as archive:
        [file] = [it for it in archive.namelist() if it.split("/")[1:] == [folder, "__init__.py"]]
        classes = data_types(archive.read(file).decode())
    # Blocks whose names end so have the resource's name before theirs.
    return block(classes, min((it for it in classes if it.endswith("Config")), key=len))


def main() -> None:
    folder = Path(sys.argv[1])
    found = dict(RANDOM)
    for kind, resource in sorted(terraform.used()):
        provider = resource.split("_")[0]
        if provider == "random":
            continue
        [wheel] = folder.glob(f"cdktn_provider_{provider}-*.whl")
        found[f"{kind} {resource}"] = read(wheel, kind, resource)
    lines = [f"{json.dumps(key)}: {json.dumps(it)}" for key, it in sorted(found.items())]
    terraform.PROVIDERS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
