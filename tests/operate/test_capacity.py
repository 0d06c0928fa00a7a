"""The calculator, the page that the benchmark writes, and the chart: three readers of one file of measured costs."""

import json
import subprocess
import sys
import unittest

import chart
import yaml

sys.path.insert(0, str(chart.ROOT / "bench"))
from lib import sizing  # noqa: E402

CALCULATOR = chart.ROOT / "docs" / "operate" / "capacity.mjs"


def run(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run(["node", CALCULATOR, *map(str, arguments)], capture_output=True, text=True)


def need(*arguments: object) -> dict[str, dict]:
    done = run("--json", *arguments)
    assert done.returncode == 0, done.stderr
    return {it["what"]: it for it in json.loads(done.stdout)}


class Capacity(unittest.TestCase):
    def test_the_benchmark_and_the_calculator_agree(self):
        lines = sizing.lines_of(sizing.CAPACITY["measured"])
        found = need()
        self.assertEqual([it.what.strip("`") for it in lines], list(found))
        for line in lines:
            with self.subTest(line.what):
                self.assertAlmostEqual(line.dollars, found[line.what.strip("`")]["dollars"], places=6)

    def test_the_page_is_what_the_benchmark_writes(self):
        page = (chart.ROOT / "docs" / "scaling.md").read_text()
        self.assertIn("\n".join(sizing.section(sizing.CAPACITY["measured"])), page)

    def test_each_part_of_a_load_costs(self):
        little = {"rate": 100, "days": 1, "bytes": 1000, "watched": 0}
        flags = [word for name, value in little.items() for word in (f"--{name}", value)]
        before = need(*flags)
        for more, what in (
            (("--rate", 9000), "trapline smtp"),
            (("--bytes", 9000), "S3 storage"),
            (("--days", 3650), "CQL"),
            (("--rate", 9000, "--watched", 1), "trapline api"),
            (("--clients", 90_000), "trapline api"),
            (("--webhooks", 100), "trapline worker"),
        ):
            with self.subTest(more):
                after = need(*flags, *more)
                self.assertGreater(after[what]["dollars"], before[what]["dollars"])
                self.assertTrue(all(after[it]["dollars"] >= before[it]["dollars"] for it in before))

    def test_the_values_are_the_charts(self):
        load = ("--rate", 20_000, "--clients", 200_000, "--webhooks", 1)
        values, machines = yaml.safe_load(run("--values", *load).stdout), need(*load)
        for role in chart.ROLES:
            spec = chart.find(values, "Deployment", f"-{role}")["spec"]
            self.assertEqual(spec["replicas"], machines[f"trapline {role}"]["number"])

    def test_what_is_no_load_is_told(self):
        for name, value in (("rate", "many"), ("rate", "0"), ("days", "-1"), ("watched", "2"), ("clients", ""), ("bytes", "1e99")):
            done = run(f"--{name}={value}")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"--{name} {value}: ", done.stderr)
        self.assertIn("--rats", run("--rats", 1).stderr)


if __name__ == "__main__":
    unittest.main()
