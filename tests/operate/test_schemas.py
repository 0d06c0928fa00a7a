"""Every object against the schemas of Kubernetes, oldest to newest: three of them, or all with PROOFS=full."""

import os
import unittest

import chart
import kubernetes_validate

IS_FULL = os.environ.get("PROOFS") == "full"
VERSIONS = [f"1.{minor}" for minor in range(25, 38, 1 if IS_FULL else 6)]
# Kinds that other people define; test_types.py decodes them.
CUSTOM = {"PodMonitor", "PrometheusRule", "HTTPRoute", "ScaledObject"}


class Schemas(unittest.TestCase):
    def test_objects_of_every_file_fit_every_version(self):
        counted = 0
        for file in chart.VALUES:
            for it in chart.objects(file.stem):
                if it["kind"] in CUSTOM:
                    continue
                for version in VERSIONS:
                    with self.subTest(f"{file.stem} {it['kind']} {version}"):
                        kubernetes_validate.validate(it, version, strict=True)
                        counted += 1
        self.assertGreater(counted, 70 * len(VERSIONS))

    def test_a_field_that_there_is_not_is_found(self):
        wrong = chart.find("embedded", "StatefulSet") | {"specs": {}}
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


if __name__ == "__main__":
    unittest.main()
