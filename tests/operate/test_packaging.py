"""The image's file system, the archive, and the unit, with a small executable in the product's place."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
UNIT = PACKAGING / "trapline.service"
# Dynamically linked, as the product is, and exits with 0.
STAND_IN = "/bin/true"
# What `systemd-analyze security` may find at most, of 10.
EXPOSURE = 2.0


def run(*command: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)


class Image(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def build(self, name: str, mask: int = 0o022) -> tuple[Path, str]:
        """An archive with the stand-in, and its digest."""
        root, archive = self.folder / name, self.folder / f"{name}.tar"
        done = run(PACKAGING / "rootfs.sh", root, STAND_IN, umask=mask)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run(sys.executable, PACKAGING / "oci.py", root, archive)
        self.assertEqual(done.returncode, 0, done.stderr)
        return archive, done.stdout.strip()

    def test_two_builds_are_the_same(self):
        first, digest = self.build("first")
        os.utime(self.folder / "first", (1, 1))
        second, again = self.build("second", 0o077)
        self.assertEqual(digest, again)
        self.assertEqual(first.read_bytes(), second.read_bytes())

    def test_there_is_no_shell_and_nothing_that_others_can_write(self):
        root = self.folder / "root"
        self.assertEqual(run(PACKAGING / "rootfs.sh", root, STAND_IN).returncode, 0)
        names = {it.name for it in root.rglob("*")}
        self.assertEqual(names & {"sh", "bash", "busybox", "dpkg", "apt"}, set())
        wanted = {"trapline", "ca-certificates.crt", "passwd", "LICENSE", "THIRD_PARTY_NOTICES.md", "data"}
        self.assertLessEqual(wanted, names)
        for path in root.rglob("*"):
            mode = path.lstat().st_mode
            if path != root / "tmp":
                self.assertFalse(mode & stat.S_IWOTH, path)
            self.assertFalse(mode & (stat.S_ISUID | stat.S_ISGID), path)
        bundled = {it.name for it in root.rglob("*.so*")}
        self.assertIn("libc.so.6", bundled)
        self.assertTrue(list(root.rglob("libc6/copyright")))

    def test_bad_arguments_are_told(self):
        done = run(PACKAGING / "rootfs.sh", self.folder, STAND_IN)
        self.assertIn("is there already", done.stderr)
        done = run(PACKAGING / "rootfs.sh", self.folder / "a", self.folder / "nothing")
        self.assertIn("there is no executable", done.stderr)
        done = run(sys.executable, PACKAGING / "oci.py", self.folder, self.folder / "a.tar")
        self.assertIn("has no usr/bin/trapline", done.stderr)

    def test_an_independent_reader_unpacks_what_then_runs(self):
        archive, digest = self.build("image")
        layout, bundle = self.folder / "layout", self.folder / "bundle"
        with tarfile.open(archive) as tar:
            tar.extractall(layout, filter="data")
        done = run("umoci", "unpack", "--image", f"{layout}:0.1.0", bundle)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads((layout / "index.json").read_text())["manifests"][0]["digest"], digest)
        spec = json.loads((bundle / "config.json").read_text())["process"]
        self.assertEqual((spec["user"]["uid"], spec["user"]["gid"]), (65532, 65532))
        self.assertEqual(spec["args"], ["trapline"])
        self.assertEqual((bundle / "rootfs/data").stat().st_uid, 65532)
        done = run("chroot", "--userspec=65532:65532", bundle / "rootfs", "trapline", env={"PATH": "/usr/sbin:/usr/bin"})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_dockerfile_makes_the_same_image(self):
        root, archive = self.folder / "image", self.build("image")[0]
        with tarfile.open(archive) as tar:
            [old] = json.load(tar.extractfile("manifest.json"))
            config = json.load(tar.extractfile(old["Config"]))["config"]
        text = (PACKAGING / "Dockerfile").read_text().partition("FROM scratch\n")[2]
        found = dict(line.split(" ", 1) for line in text.splitlines() if not line.startswith("COPY"))
        self.assertEqual(found["USER"], config["User"])
        self.assertEqual(found["ENV"].split(), config["Env"])
        self.assertEqual(set(found["EXPOSE"].split()), set(config["ExposedPorts"]))
        self.assertEqual([found["VOLUME"]], list(config["Volumes"]))
        self.assertEqual(json.loads(found["ENTRYPOINT"]), config["Entrypoint"])
        self.assertTrue(root.is_dir())


class Unit(unittest.TestCase):
    def settings(self) -> dict[str, list[str]]:
        """The lines of the unit, by their names."""
        found: dict[str, list[str]] = {}
        for line in UNIT.read_text().splitlines():
            name, is_setting, value = line.partition("=")
            if is_setting and not line.startswith("#"):
                found.setdefault(name, []).append(value)
        return found

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not here: the unit was not verified")
    def test_systemd_takes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = Path(folder) / UNIT.name
            # The product and its manual are not installed here.
            text = UNIT.read_text().replace("/usr/local/bin/trapline", STAND_IN)
            unit.write_text(re.sub("^Documentation=.*\n", "", text, flags=re.MULTILINE))
            done = run("systemd-analyze", "verify", unit)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            done = run("systemd-analyze", "security", "--offline=true", unit)
            exposure = re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)
            self.assertLessEqual(float(exposure[1]), EXPOSURE)

    def test_it_waits_for_the_drain(self):
        self.assertGreater(int(self.settings()["TimeoutStopSec"][0]), 30)

    def test_its_variables_are_settings(self):
        page = (ROOT / "docs" / "configuration.md").read_text()
        for assignment in self.settings()["Environment"][0].split():
            self.assertIn(f"| `{assignment.split('=')[0]}` |", page)


class Compose(unittest.TestCase):
    def test_it_is_closed_as_the_pods_are_and_has_settings_that_there_are(self):
        text = (ROOT / "docs" / "operate" / "compose.yaml").read_text()
        [service] = yaml.safe_load(text)["services"].values()
        self.assertIs(service["read_only"], True)
        self.assertEqual(service["cap_drop"], ["ALL"])
        self.assertGreater(int(service["stop_grace_period"].rstrip("s")), 30)
        page = (ROOT / "docs" / "configuration.md").read_text()
        for variable in service["environment"]:
            self.assertIn(f"| `{variable}` |", page)
        ports = {it.rsplit(":", 1)[1] for it in service["ports"]}
        dockerfile = (PACKAGING / "Dockerfile").read_text()
        self.assertTrue(all(f"{port}/tcp" in dockerfile for port in ports))


if __name__ == "__main__":
    unittest.main()
