"""Starts the containers of rendered pods as a kubelet does: over the image's file system, as its user, with a
read-only root but for the rendered volumes, by the rendered command and variables. Every pod has an address of its own,
so that its ports are those of the chart."""

import contextlib
import functools
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import chart

sys.path.insert(0, str(chart.ROOT / "tests" / "services"))
from network import Subnet  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", chart.ROOT / "target"))
BINARY = TARGET / "debug" / "trapline"
SUBNET = Subnet()
LISTENS = "0A"
# Takes the root, the user and the group, the volumes, and the command.
ENCLOSE = """
set -eu
root="$1" user="$2" group="$3" volumes="$4"
shift 4
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
for path in $volumes; do mount -t tmpfs -o "mode=2770,gid=$group" volume "$root$path"; done
exec setpriv --no-new-privs /usr/sbin/chroot --userspec="$user:$group" --groups="$group" "$root" "$@"
"""


def status(url: str, token: str = "") -> int:
    """The status of an answer; 0 where nobody listens."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


@functools.cache
def scratch() -> tempfile.TemporaryDirectory:
    """A folder that goes with this process."""
    return tempfile.TemporaryDirectory(prefix="trapline-operate-")


@functools.cache
def executable() -> Path:
    """The executable under test without what debuggers need, which is most of it."""
    path = Path(scratch().name) / "trapline"
    subprocess.run(["strip", "--strip-debug", "-o", path, BINARY], check=True)
    return path


@functools.cache
def image() -> Path:
    """The file system of the image around the executable under test."""
    root = Path(scratch().name) / "root"
    subprocess.run([chart.ROOT / "packaging" / "rootfs.sh", root, executable()], check=True)
    # What a container engine adds.
    for name in ("proc", "dev"):
        (root / name).mkdir()
    return root


@functools.cache
def image_variables() -> dict[str, str]:
    text = (chart.ROOT / "packaging" / "Dockerfile").read_text()
    [line] = [it for it in text.splitlines() if it.startswith("ENV ")]
    return dict(it.split("=", 1) for it in line.split()[1:])


class Pod:
    """The container of a rendered pod. `secrets` are the Secrets of its namespace."""

    def __init__(self, component: str, template: dict, secrets: dict[str, dict[str, str]], number: int):
        self.component, self.spec = component, template["spec"]
        self.container = chart.container(template)
        self.variables = chart.variables(template)
        self.secrets = secrets
        self.ip = SUBNET.ips(61 + number, 1)[0]
        self.ports = {it["name"]: it["containerPort"] for it in self.container.get("ports", [])}
        self.log = tempfile.TemporaryFile("w+")
        self.process: subprocess.Popen | None = None

    def environment(self) -> dict[str, str]:
        found = image_variables() | {name: self.value(it) for name, it in self.variables.items()}
        return {name: value.replace("0.0.0.0:", f"{self.ip}:") for name, value in found.items()}

    def value(self, variable: dict) -> str:
        if "value" in variable:
            return variable["value"]
        reference = variable["valueFrom"]["secretKeyRef"]
        return self.secrets[reference["name"]][reference["key"]]

    def command(self) -> list[str]:
        return [*self.container.get("command", ["trapline"]), *self.container["args"]]

    def enclosed(self, command: list[str]) -> list[str]:
        """A command in the pod's file system, as its user."""
        root, security = image(), self.spec["securityContext"]
        paths = [it["mountPath"] for it in self.container["volumeMounts"]]
        for path in paths:
            (root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        assert self.container["securityContext"]["readOnlyRootFilesystem"]
        words = [root, security["runAsUser"], security["fsGroup"], " ".join(paths), *command]
        return ["unshare", "--mount", "sh", "-c", ENCLOSE, "enclose", *map(str, words)]

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.enclosed(self.command()), env=self.environment(), stdout=self.log, stderr=subprocess.STDOUT
        )

    def output(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def url(self, port: str | int, path: str) -> str:
        return f"http://{self.ip}:{self.ports.get(port, port)}{path}"

    def pass_probe(self, name: str) -> None:
        """Returns once a rendered probe succeeds; it fails no later than a kubelet would say so."""
        probe = self.container[name]
        for _ in range(probe["failureThreshold"] * 10):
            if status(self.url(probe["httpGet"]["port"], probe["httpGet"]["path"])) == 200:
                return
            assert self.process.poll() is None, f"{self.component} ended:\n{self.output()}"
            time.sleep(probe["periodSeconds"] / 10)
        raise AssertionError(f"{self.component}: {name} does not succeed:\n{self.output()}")

    def listening(self) -> set[tuple[str, int]]:
        """The addresses at which the process takes connections."""
        folder = Path(f"/proc/{self.process.pid}")
        own = set()
        for descriptor in (folder / "fd").iterdir():
            # Those of answers come and go.
            with contextlib.suppress(FileNotFoundError):
                own.update(re.findall(r"^socket:\[(\d+)]$", os.readlink(descriptor)))
        found = set()
        for line in (folder / "net" / "tcp").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENS and words[9] in own:
                address, port = words[1].split(":")
                found.add((".".join(map(str, reversed(bytes.fromhex(address)))), int(port, 16)))
        return found

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def ended(self) -> int:
        """Its exit code, within the grace."""
        return self.process.wait(self.spec["terminationGracePeriodSeconds"])

    def kill(self) -> None:
        """For the end of a test, however it went."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
