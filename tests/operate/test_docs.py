"""The commands of the pages for operators, run in their order as they are written, but for those that are marked as
ones that need a cluster, an account or a container engine."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import chart
import kubelet
import test_process

FOLDER = chart.ROOT / "docs" / "operate"
# Whose commands are run beside a server, and whose are followed on a machine where nothing is yet.
BESIDE = ["backup.md", "upgrade.md"]
FOLLOWED = ["capacity.md", "container.md", "kubernetes.md", "one-machine.md"]
NEEDS = {"a cluster", "an account", "a container engine"}
# A mark may stand before a block; the page shows it to nobody.
BLOCK = re.compile(r"(?:<!-- needs ([^>]+) -->\n)?```sh\n(.*?)```", re.DOTALL)
STAND_INS = Path(__file__).with_name("stand-ins")
# What is written to the machine goes when the last process does.
ENCLOSE = """
set -euo pipefail
mount -t tmpfs tmpfs /mnt
for folder in /etc /usr/local /var/lib; do
  mkdir -p "/mnt$folder/upper" "/mnt$folder/work"
  mount -t overlay -o "lowerdir=$folder,upperdir=/mnt$folder/upper,workdir=/mnt$folder/work" overlay "$folder"
done
ip link set lo up
exec bash -euo pipefail "$1"
"""


def blocks(page: str) -> list[tuple[str, str]]:
    """The blocks of a page: what each needs that no test has, and its commands."""
    text = (FOLDER / page).read_text()
    found = BLOCK.findall(text)
    assert len(found) == len(re.findall(r"```(?:sh|bash|console|shell)\n", text)), page
    return found


class Pages(unittest.TestCase):
    def test_every_command_is_run_or_says_what_it_needs(self):
        marked = 0
        for file in sorted(FOLDER.rglob("*.md")):
            page = str(file.relative_to(FOLDER))
            for needs, commands in blocks(page):
                with self.subTest(page):
                    if needs:
                        self.assertIn(needs, NEEDS)
                        marked += 1
                    else:
                        self.assertIn(page, BESIDE + FOLLOWED, commands)
        self.assertGreaterEqual(marked, 5)


@unittest.skipUnless(kubelet.BINARY.exists(), f"{kubelet.BINARY} is not built: no command was run")
class Beside(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        path = f"{kubelet.BINARY.parent}:{os.environ['PATH']}"
        self.environment = {"PATH": path, "TRAPLINE_DATA": str(self.folder / "data")}
        self.port = test_process.free_port()
        listeners = ["--http", f"127.0.0.1:{self.port}", "--smtp", "127.0.0.1:0", "--smtps", "127.0.0.1:0"]
        command = [kubelet.BINARY, "serve", "--quiet", *listeners]
        server = subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        test_process.wait_for(f"http://127.0.0.1:{self.port}/readyz")

    def test_commands_of_pages_work_as_they_are_written(self):
        run = 0
        for page in BESIDE:
            for needs, commands in blocks(page):
                if needs:
                    continue
                here = commands.replace("/var/backups", str(self.folder / "backups"))
                # A server would not end; whether it takes the settings is all that is asked.
                here = re.sub(r"^trapline serve.*", r"\g<0> --check-config", here, flags=re.MULTILINE)
                with self.subTest(f"{page}: {commands}"):
                    done = subprocess.run(
                        ["bash", "-euo", "pipefail", "-c", here],
                        cwd=self.folder,
                        env=self.environment,
                        capture_output=True,
                        text=True,
                        timeout=120,
                    )
                    self.assertEqual(done.returncode, 0, done.stderr)
                    run += 1
        self.assertGreaterEqual(run, 6)

    def test_a_command_that_does_not_work_is_found(self):
        command = ["bash", "-euc", "trapline verify --from nothing.tar"]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True)
        self.assertEqual(done.returncode, 1)


@unittest.skipUnless(kubelet.BINARY.exists(), f"{kubelet.BINARY} is not built: no page was followed")
@unittest.skipUnless(os.geteuid() == 0, "only root may install what goes again: no page was followed")
class Followed(unittest.TestCase):
    """A machine where nothing is installed, over the files of the repository. Programs that build for minutes, or need
    what a test has not, have stand-ins."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.folder.chmod(0o755)
        for name in ("packaging", "helm", "docs/operate"):
            shutil.copytree(chart.ROOT / name, self.folder / name)
        for name in ("LICENSE", "THIRD_PARTY_NOTICES.md"):
            shutil.copy(chart.ROOT / name, self.folder)
        (self.folder / "target" / "dist").mkdir(parents=True)

    def follow(self, page: str, executable: Path | str, after: str = "") -> str:
        """Runs the blocks of a page one after another, and then more; what they print."""
        shutil.copy(executable, self.folder / "target" / "dist" / "trapline")
        # A key that was printed is the one that later commands are told.
        key = 'TRAPLINE_API_KEY="$(grep -oE "tl_[0-9A-Za-z]+" told | tail -n 1 || true)"; export TRAPLINE_API_KEY\n'
        commands = [commands for needs, commands in blocks(page) if not needs]
        self.assertTrue(commands)
        script = self.folder / "script"
        script.write_text("exec >told\n" + key.join([*commands, after]))
        words = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        done = subprocess.run(
            [*words, "bash", "-c", ENCLOSE, "enclose", script],
            cwd=self.folder,
            env={"PATH": f"{STAND_INS}:{os.environ['PATH']}", "HOME": str(self.folder), "HELM": chart.TOOLS / "helm"},
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
        )
        told = (self.folder / "told").read_text()
        self.assertEqual(done.returncode, 0, f"{page}: {done.stderr}{told}")
        return told

    def test_one_machine(self):
        told = self.follow("one-machine.md", kubelet.executable(), "systemctl stop trapline\n")
        self.assertRegex(told, r"http://mail\.example\.com:8025/\S*token=")
        self.assertRegex(told, r'"messageCount":1\b')
        log = (self.folder / "unit.log").read_text()
        self.assertNotRegex(log, r"tl_|token=|ERROR")

    def test_a_container(self):
        # A small one in the product's place, whose layers take no minutes to compress.
        told = self.follow("container.md", "/bin/true")
        self.assertRegex(told, "sha256:[0-9a-f]{64}")
        self.assertTrue((self.folder / "trapline.tar").exists())

    def test_capacity(self):
        told = self.follow("capacity.md", "/bin/true")
        self.assertEqual(told.count("trapline smtp"), 2)
        self.assertEqual(told.count("kind: Deployment"), 3)

    def test_kubernetes(self):
        told = self.follow("kubernetes.md", "/bin/true")
        self.assertEqual(told.count("kind: StatefulSet"), 1)
        self.assertEqual(told.count("kind: Deployment"), 3)
        # The Secret has every key that the pods refer to.
        made = (self.folder / "kubectl.told").read_text()
        keys = set(re.findall(r"^--from-literal=([a-z-]+)=\S", made, re.MULTILINE))
        pods = chart.pods({"mode": "cluster", "secrets": {"existingSecret": "trapline"}})
        wanted = {
            it["valueFrom"]["secretKeyRef"]["key"]
            for pod in pods.values()
            for it in chart.variables(pod).values()
            if "valueFrom" in it
        }
        self.assertEqual(keys, wanted)


if __name__ == "__main__":
    unittest.main()
