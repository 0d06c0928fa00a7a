"""Objects that other projects define: by their Go types, and for KEDA by a schema of the fields used."""

import json
import subprocess
import unittest

import chart
import jsonschema

TYPED = {"PodMonitor", "PrometheusRule", "HTTPRoute"}
TEXT = {"type": "string", "minLength": 1}
# By KEDA's documentation of version 2: all metadata of triggers are texts.
METADATA = {
    "cpu": {"value": TEXT},
    "prometheus": {"serverAddress": TEXT, "query": TEXT, "threshold": TEXT},
    "nats-jetstream": {
        name: TEXT
        for name in (
            "natsServerMonitoringEndpoint",
            "account",
            "stream",
            "consumer",
            "lagThreshold",
            "useHttps",
        )
    },
}


def whole(properties: dict, *optional: str) -> dict:
    """An object that has these and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(set(properties) - set(optional)),
        "additionalProperties": False,
    }


TRIGGERS = [
    whole(
        {
            "type": {"const": kind},
            "metricType": {"enum": ["Utilization", "AverageValue", "Value"]},
            "metadata": whole(metadata),
            "authenticationRef": whole({"name": TEXT}),
        },
        "metricType",
        "authenticationRef",
    )
    for kind, metadata in METADATA.items()
]
SCALED_OBJECT = whole(
    {
        "scaleTargetRef": whole({"name": TEXT}),
        "minReplicaCount": {"type": "integer", "minimum": 1},
        "maxReplicaCount": {"type": "integer", "minimum": 1},
        "advanced": whole({"horizontalPodAutoscalerConfig": whole({"behavior": {"type": "object"}})}),
        "triggers": {"type": "array", "minItems": 2, "items": {"oneOf": TRIGGERS}},
    }
)


def decode(objects: list[dict]) -> str:
    """What does not fit the Go types."""
    done = subprocess.run(
        [chart.TOOLS / "types"], input=json.dumps(objects), capture_output=True, text=True
    )
    return done.stdout + done.stderr


def typed() -> list[dict]:
    return [it for file in chart.VALUES for it in chart.objects(file.stem) if it["kind"] in TYPED]


class Types(unittest.TestCase):
    def test_objects_fit_the_types(self):
        self.assertEqual({it["kind"] for it in typed()}, TYPED)
        self.assertEqual(decode(typed()), "")

    def test_a_field_that_there_is_not_is_found(self):
        [route] = [it for it in typed() if it["kind"] == "HTTPRoute"]
        route = json.loads(json.dumps(route))
        route["spec"]["rules"][0]["backends"] = []
        self.assertIn('unknown field "backends"', decode([route]))

    def test_scaled_objects_fit_what_keda_documents(self):
        found = [it for it in chart.objects("keda") if it["kind"] == "ScaledObject"]
        self.assertEqual(len(found), 3)
        for it in found:
            jsonschema.validate(it["spec"], SCALED_OBJECT)
            replicas = it["spec"]["minReplicaCount"], it["spec"]["maxReplicaCount"]
            self.assertLess(*replicas)


if __name__ == "__main__":
    unittest.main()
