"""The renders that are in the repository, so that a change of one shows in review, and what upgrades cannot
change. `UPDATE_DOCS=1` writes them."""

import os
import unittest
from pathlib import Path

import chart
import yaml

GOLDEN = Path(__file__).with_name("golden")
# Copies of the plain files, which show in review by themselves.
COPIES = {"ConfigMap", "PrometheusRule"}
# What the API server refuses to change, by kind.
IMMUTABLE = {
    "Deployment": ("selector",),
    "StatefulSet": ("selector", "serviceName", "volumeClaimTemplates"),
}


def reviewed(values: str) -> list[dict]:
    return [it for it in chart.objects(values) if it["kind"] not in COPIES]


class Golden(unittest.TestCase):
    def test_renders_are_those_that_were_reviewed(self):
        for file in chart.VALUES:
            golden = GOLDEN / file.name
            text = yaml.safe_dump_all(reviewed(file.stem), sort_keys=True, width=200)
            if os.environ.get("UPDATE_DOCS"):
                golden.write_text(text)
            with self.subTest(file.stem):
                self.assertEqual(golden.read_text(), text, "look at the change, then UPDATE_DOCS=1")

    def test_values_do_not_change_what_an_upgrade_cannot(self):
        """Only names and the volume of one process do."""
        values = {
            "image": {"tag": "9"},
            "commonLabels": {"a": "b"},
            "embedded": {"pod": {"labels": {"c": "d"}}, "resources": {"limits": {"memory": "2Gi"}}},
        }
        before = chart.find("embedded", "StatefulSet")["spec"]
        after = chart.find(values, "StatefulSet")["spec"]
        for field in IMMUTABLE["StatefulSet"]:
            self.assertEqual(before[field], after[field])
        for role in chart.ROLES:
            specs = [chart.find(it, "Deployment", f"-{role}")["spec"] for it in ("cluster", "production")]
            for field in IMMUTABLE["Deployment"]:
                self.assertEqual(specs[0][field], specs[1][field])


if __name__ == "__main__":
    unittest.main()
