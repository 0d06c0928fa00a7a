#!/usr/bin/env python3
"""Writes a file system as an OCI image archive, without a container engine.

    packaging/oci.py ROOTFS ARCHIVE [--version 0.1.0] [--architecture amd64] [--revision COMMIT]

ROOTFS is what packaging/rootfs.sh lays out. The same files make the same archive: entries are sorted,
owners are 0 but for /data, and all times are SOURCE_DATE_EPOCH (0 when left out). `docker load`,
`podman load` and tools that copy to registries take it.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import platform
import stat
import sys
import tarfile
import time
from pathlib import Path

USER = 65532
# What runs the image may write here; nobody else may read it.
OWN = "data"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def entry(path: Path, name: str, when: int) -> tarfile.TarInfo:
    """A file, folder or link as the layer has it."""
    status = path.lstat()
    info = tarfile.TarInfo(name)
    info.mtime = when
    info.mode = stat.S_IMODE(status.st_mode)
    if name == OWN:
        info.uid = info.gid = USER
    if stat.S_ISLNK(status.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, os.readlink(path)
    elif stat.S_ISDIR(status.st_mode):
        info.type = tarfile.DIRTYPE
    elif stat.S_ISREG(status.st_mode):
        info.size = status.st_size
    else:
        sys.exit(f"packaging/oci.py: {path} is no file, folder or link")
    return info


def layer(root: Path, when: int) -> bytes:
    """The file system as a tar archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(root.rglob("*")):
            info = entry(path, str(path.relative_to(root)), when)
            if info.isreg():
                with path.open("rb") as file:
                    tar.addfile(info, file)
            else:
                tar.addfile(info)
    return out.getvalue()


def compress(data: bytes, when: int) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=9, mtime=when) as file:
        file.write(data)
    return out.getvalue()


def config(options: argparse.Namespace, layer_digest: str, created: str) -> dict:
    """How the image is run."""
    return {
        "created": created,
        "architecture": options.architecture,
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "ExposedPorts": {"1025/tcp": {}, "1465/tcp": {}, "8025/tcp": {}},
            "Env": [
                "PATH=/usr/bin",
                "TRAPLINE_HTTP=0.0.0.0:8025",
                "TRAPLINE_SMTP=0.0.0.0:1025",
                "TRAPLINE_DATA=/data",
            ],
            "Entrypoint": ["trapline"],
            "Volumes": {"/data": {}},
            "WorkingDir": "/",
            "Labels": {
                "org.opencontainers.image.title": "trapline",
                "org.opencontainers.image.version": options.version,
                "org.opencontainers.image.revision": options.revision,
                "org.opencontainers.image.licenses": options.licence,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [layer_digest]},
        "history": [{"created": created, "created_by": "packaging/oci.py"}],
    }


class Archive:
    """The blobs of an image by digest, and the files that name them."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def blob(self, data: bytes, media_type: str) -> dict:
        """Keeps a blob, and returns its descriptor."""
        digest = hashlib.sha256(data).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = data
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}

    def add(self, name: str, value: object) -> None:
        self.files[name] = to_json(value)

    def write(self, path: Path, when: int) -> None:
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
            for name, data in sorted(self.files.items()):
                info = tarfile.TarInfo(name)
                info.size, info.mtime, info.mode = len(data), when, 0o644
                tar.addfile(info, io.BytesIO(data))


def to_json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def path_of(descriptor: dict) -> str:
    return "blobs/" + descriptor["digest"].replace(":", "/")


def image(options: argparse.Namespace, when: int) -> tuple[Archive, str]:
    """The archive, and the digest by which registries know the image."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
    files = layer(options.rootfs, when)
    layer_digest = "sha256:" + hashlib.sha256(files).hexdigest()
    archive, kind = Archive(), "application/vnd.oci.image"
    described = to_json(config(options, layer_digest, created))
    how = archive.blob(described, f"{kind}.config.v1+json")
    what = archive.blob(compress(files, when), f"{kind}.layer.v1.tar+gzip")
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{kind}.manifest.v1+json",
        "config": how,
        "layers": [what],
    }
    top = archive.blob(to_json(manifest), manifest["mediaType"])
    name = f"trapline:{options.version}"
    names = {
        "org.opencontainers.image.ref.name": options.version,
        "io.containerd.image.name": f"docker.io/library/{name}",
    }
    index = {"schemaVersion": 2, "manifests": [{**top, "annotations": names}]}
    archive.add("index.json", index)
    archive.add("oci-layout", {"imageLayoutVersion": "1.0.0"})
    # Container engines that are older than their support of OCI read this.
    old = {"Config": path_of(how), "RepoTags": [name], "Layers": [path_of(what)]}
    archive.add("manifest.json", [old])
    return archive, top["digest"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rootfs", type=Path)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--version", default="0.1.0")
    parser.add_argument("--revision", default="unknown")
    parser.add_argument("--licence", default="Apache-2.0")
    own = ARCHITECTURES.get(platform.machine(), platform.machine())
    parser.add_argument("--architecture", default=own)
    options = parser.parse_args()
    if not (options.rootfs / "usr/bin/trapline").is_file():
        parser.error(f"{options.rootfs} has no usr/bin/trapline: packaging/rootfs.sh makes it")
    return options


def main() -> None:
    options = arguments()
    when = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    archive, digest = image(options, when)
    archive.write(options.archive, when)
    print(digest)


if __name__ == "__main__":
    main()
