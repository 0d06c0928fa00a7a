"""The commands of pages, run in their order beside a server, but for those that are marked as ones that need more."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import chart
import test_process

PAGES = ["backup.md", "upgrade.md"]
# A mark may stand before a block; the page shows it to nobody.
BLOCK = re.compile(r"(<!-- needs [^>]+ -->\n)?```sh\n(.*?)```", re.DOTALL)


def blocks(page: str) -> list[tuple[bool, str]]:
    """The blocks of a page: whether each is marked, and its commands."""
    text = (chart.ROOT / "docs/operate" / page).read_text()
    found = [(bool(mark), commands) for mark, commands in BLOCK.findall(text)]
    assert len(found) == text.count("```sh\n"), page
    return found


@unittest.skipUnless(test_process.BINARY.exists(), f"{test_process.BINARY} is not built: no command was run")
class Docs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        path = f"{test_process.BINARY.parent}:{os.environ['PATH']}"
        self.environment = {"PATH": path, "TRAPLINE_DATA": str(self.folder / "data")}
        self.port = test_process.free_port()
        listeners = ["--http", f"127.0.0.1:{self.port}", "--smtp", "127.0.0.1:0", "--smtps", "127.0.0.1:0"]
        command = [test_process.BINARY, "serve", "--quiet", *listeners]
        server = subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        test_process.wait_for(f"http://127.0.0.1:{self.port}/readyz")

    def test_commands_of_pages_work_as_they_are_written(self):
        run = 0
        for page in PAGES:
            for is_marked, commands in blocks(page):
                if is_marked:
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


if __name__ == "__main__":
    unittest.main()
