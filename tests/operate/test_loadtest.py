"""The load scripts: their types, the tests of the runner, and each of them against a real process."""

import os
import shutil
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chart
import test_process

FOLDER = chart.ROOT / "loadtest"
TOOLS = chart.TOOLS / "loadtest" / "node_modules"
SCRIPTS = sorted(it.name for it in FOLDER.glob("*.js"))
KEY = "tl_0123456789abcdefghijklmn"


def node(*arguments: object, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["node", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], **environment},
    )


class Scripts(unittest.TestCase):
    def test_there_are_all(self):
        wanted = {"ci-fleet", "ingest", "limits", "search", "soak", "spike", "wait-storm"}
        self.assertEqual({Path(it).stem for it in SCRIPTS}, wanted)
        page = (FOLDER / "README.md").read_text()
        for script in SCRIPTS:
            self.assertIn(f"`{script}`", page)

    def test_they_fit_the_types_of_k6(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(shutil.copytree(FOLDER, Path(folder) / "loadtest"))
            (copy / "node_modules").symlink_to(TOOLS)
            done = node(TOOLS / "typescript" / "bin" / "tsc", "--project", copy)
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_the_runner(self):
        tests = sorted((FOLDER / "runner" / "test").glob("*.test.mjs"))
        done = node("--test", *tests)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:])
        self.assertIn("\n# fail 0\n", done.stdout)


@unittest.skipUnless(
    test_process.BINARY.exists(), f"{test_process.BINARY} is not built: no script met a process"
)
class Process(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        http, smtp = test_process.free_port(), test_process.free_port()
        self.url = f"http://127.0.0.1:{http}"
        self.process = subprocess.Popen(
            [test_process.BINARY, "serve", "--quiet"],
            env={
                "TRAPLINE_DATA": folder.name + "/data",
                "TRAPLINE_HTTP": f"127.0.0.1:{http}",
                "TRAPLINE_SMTP": f"127.0.0.1:{smtp}",
                "TRAPLINE_API_KEY": KEY,
                "METRICS_TOKEN": test_process.TOKEN,
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(self.process.communicate)
        self.addCleanup(self.process.kill)
        test_process.wait_for(f"{self.url}/readyz")

    def test_each_script_passes(self):
        def run(script: str) -> subprocess.CompletedProcess:
            return node(
                FOLDER / "runner" / "main.mjs",
                FOLDER / script,
                TRAPLINE_URL=self.url,
                TRAPLINE_API_KEY=KEY,
                METRICS_TOKEN=test_process.TOKEN,
                # Whatever else the machine does.
                PATIENCE="100",
            )

        with ThreadPoolExecutor(3) as pool:
            for script, done in zip(SCRIPTS, pool.map(run, SCRIPTS)):
                with self.subTest(script):
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
