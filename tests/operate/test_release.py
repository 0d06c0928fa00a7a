"""What `make release` makes, with a small executable in the product's place."""

import gzip
import io
import json
import os
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

import chart

RELEASE = chart.ROOT / "packaging" / "release.sh"
STAND_IN = "/bin/true"


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = Path(cls.temporary.name)
        cls.key = cls.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", cls.key], check=True)
        cls.out = cls.folder / "first"
        cls.told = cls.release(cls.out, RELEASE_KEY=str(cls.key))

    @classmethod
    def release(cls, out: Path, **variables: str) -> str:
        command = [RELEASE, out, STAND_IN]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def one(self, end: str) -> Path:
        [found] = [it for it in self.out.iterdir() if it.name.endswith(end)]
        return found

    def names(self, archive: Path) -> set[str]:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(archive.read_bytes()))) as tar:
            return {it.name.partition("/")[2] for it in tar.getmembers() if it.isfile()}

    def test_sums_and_their_signature_verify(self):
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=self.out, check=True)
        listed = {line.split()[1] for line in (self.out / "SHA256SUMS").read_text().splitlines()}
        made = {it.name for it in self.out.iterdir()}
        self.assertEqual(listed, made - {"SHA256SUMS", "SHA256SUMS.sig"})
        signers = self.folder / "signers"
        signers.write_text("release " + self.key.with_suffix(".pub").read_text())
        verify = ["ssh-keygen", "-Y", "verify", "-f", signers, "-I", "release", "-n", "trapline"]
        command = [*verify, "-s", self.out / "SHA256SUMS.sig"]
        sums = (self.out / "SHA256SUMS").read_bytes()
        self.assertEqual(subprocess.run(command, input=sums, capture_output=True).returncode, 0)
        self.assertNotEqual(subprocess.run(command, input=sums + b"\n", capture_output=True).returncode, 0)

    def test_another_run_makes_the_same_bytes(self):
        again = self.folder / "second"
        self.assertEqual(self.release(again).split(";")[1], self.told.split(";")[1])
        self.assertEqual((again / "SHA256SUMS").read_text(), (self.out / "SHA256SUMS").read_text())

    def test_the_archive_has_what_one_machine_needs(self):
        wanted = {"trapline", "trapline.service", "trapline.1", "LICENSE", "THIRD_PARTY_NOTICES.md", "CHANGELOG.md"}
        shells = {f"completions/trapline.{shell}" for shell in ("bash", "zsh", "fish")}
        self.assertEqual(self.names(self.one(".tar.gz")), wanted | shells)

    def test_helm_takes_the_chart(self):
        rendered = chart.helm("template", "mail", self.one(".tgz"), "--kube-version", chart.KUBERNETES)
        self.assertIn("kind: StatefulSet", rendered)

    def test_the_components_are_those_that_are_linked(self):
        bom = json.loads(self.one(".cdx.json").read_text())
        self.assertEqual((bom["bomFormat"], bom["specVersion"]), ("CycloneDX", "1.5"))
        found = {it["purl"].removeprefix("pkg:cargo/") for it in bom["components"]}
        tree = ["cargo", "tree", "--locked", "--package", "trapline", "--edges", "normal", "--prefix", "none"]
        lines = subprocess.run(tree, cwd=chart.ROOT, check=True, capture_output=True, text=True).stdout
        linked = {"@".join(line.split()[:2]).replace("@v", "@") for line in lines.splitlines() if line.strip()}
        linked = {it for it in linked if not it.startswith("trapline@")}
        self.assertGreater(len(linked), 200)
        self.assertEqual(linked - found, set())
        foreign = [it for it in bom["components"] if not it["name"].startswith("trapline-")]
        self.assertEqual([it["purl"] for it in foreign if "licenses" not in it], [])
        references = {it["bom-ref"] for it in [*bom["components"], bom["metadata"]["component"]]}
        self.assertEqual({use for it in bom["dependencies"] for use in it["dependsOn"]} - references, set())

    def test_a_folder_that_is_there_is_left_alone(self):
        done = subprocess.run([RELEASE, self.folder, STAND_IN], capture_output=True, text=True)
        self.assertEqual((done.returncode, "is there already" in done.stderr), (1, True))


if __name__ == "__main__":
    unittest.main()
