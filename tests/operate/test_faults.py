"""Values that are wrong fail the install, with a text that says what to do."""

import json
import unittest

import chart

CLUSTER = {"mode": "cluster", "secrets": {"existingSecret": "trapline"}}
FAULTS = (
    ("a misspelt key", {"modes": "cluster"}, "modes"),
    ("a misspelt key further down", {"smtp": {"service": {"typ": "NodePort"}}}, "typ"),
    ("a bad size", {"settings": {"smtp-message": "25XB"}}, "smtp-message"),
    ("a bad size of a volume", {"embedded": {"persistence": {"size": "much"}}}, "size"),
    ("an unknown setting", {"settings": {"smpt-message": "25MiB"}}, "smpt-message"),
    ("a secret among settings", {"settings": {"secret-key": "c2VjcmV0"}}, "secret-key"),
    ("a listener among settings", {"settings": {"http": "0.0.0.0:80"}}, "http"),
    ("a text for a number", {"settings": {"max-streams": "many"}}, "max-streams"),
    ("an unknown engine", {"api": {"autoscaling": {"engine": "vpa"}}}, "engine"),
    ("a port that there is not", {"api": {"service": {"port": 70000}}}, "port"),
    ("a grace within the drain", {"terminationGracePeriodSeconds": 5}, "terminationGracePeriodSeconds"),
    ("a cluster without a Secret", {"mode": "cluster"}, "mode: cluster needs secrets.existingSecret"),
    (
        "a cluster without the key of a service",
        {"mode": "cluster", "secrets": {"existingSecret": "s", "keys": {"nats": ""}}},
        "mode: cluster needs secrets.keys.nats",
    ),
    (
        "a setting of a role that does not take it",
        {**CLUSTER, "worker": {"settings": {"max-streams": 5}}},
        "worker.settings.max-streams: `trapline worker` does not take it",
    ),
    ("a monitor without a token", {"monitoring": {"podMonitor": {"enabled": True}}}, "needs a token"),
    (
        "an alert that there is not",
        {"monitoring": {"rules": {"enabled": True, "disabled": ["TraplineFast"]}}},
        "there is no alert TraplineFast",
    ),
    ("backups without a place", {"backup": {"enabled": True}}, "backup.enabled needs a place"),
    (
        "backups with two places",
        {
            "secrets": {"existingSecret": "s", "keys": {"backupTo": "to"}},
            "backup": {"enabled": True, "existingClaim": "a"},
        },
        "a volume (backup.existingClaim) or a place (secrets.keys.backupTo), not both",
    ),
    ("a bad time between backups", {"backup": {"every": "daily"}}, "every"),
    ("a proxy that is not named", {"smtp": {"proxyProtocol": {"enabled": True}}}, "smtp.proxyProtocol.from"),
    ("two places of certificates", {"certificates": {"secret": "a", "configMap": "b"}}, "not both"),
    ("an ingress without a host", {"ingress": {"enabled": True}}, "ingress.hosts"),
    ("a route without a gateway", {"httpRoute": {"enabled": True}}, "httpRoute.parentRefs"),
    ("KEDA without NATS", {**CLUSTER, "worker": {"autoscaling": {"engine": "keda"}}}, "keda.nats"),
    ("KEDA without Prometheus", {**CLUSTER, "api": {"autoscaling": {"engine": "keda"}}}, "keda.prometheus"),
    (
        "a policy that closes a service",
        {**CLUSTER, "networkPolicy": {"enabled": True}},
        "networkPolicy.services.cql",
    ),
)


class Faults(unittest.TestCase):
    def test_each_is_told(self):
        for what, values, wanted in FAULTS:
            with self.subTest(what):
                with self.assertRaises(chart.RenderError) as raised:
                    chart.text(json.dumps(values))
                self.assertIn(wanted, str(raised.exception))

    def test_an_old_cluster_is_refused(self):
        with self.assertRaisesRegex(chart.RenderError, "kubeVersion"):
            chart.text("embedded", "1.24")


class Values(unittest.TestCase):
    def test_the_schema_knows_every_value_and_no_other(self):
        schema = json.loads((chart.CHART / "values.schema.json").read_text())
        values = chart.yaml.safe_load((chart.CHART / "values.yaml").read_text())

        def properties(node):
            reference = node.get("$ref", "").rpartition("/")[2]
            return (schema["definitions"][reference] if reference else node).get("properties")

        def compare(node, value, path):
            known = properties(node)
            if not isinstance(value, dict) or known is None or path.endswith((".settings", ".pod")):
                return
            if value:
                known = set(known) - {"global"}
                self.assertEqual(known, set(value), path)
            for name, inner in value.items():
                compare(properties(node)[name], inner, f"{path}.{name}")

        compare({**schema, "$ref": ""}, values, "values")


if __name__ == "__main__":
    unittest.main()
