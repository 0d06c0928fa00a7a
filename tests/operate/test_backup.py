"""Backups by the chart: from inside of the one process, and by a job of a cluster."""

import unittest

import chart

SECRET = {"existingSecret": "trapline", "keys": {"backupTo": "backup-to"}}
CLUSTER = {"mode": "cluster", "secrets": SECRET, "backup": {"enabled": True}}


def job(values: dict) -> dict:
    return chart.find(values, "CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def settings(pod: dict) -> dict[str, str | None]:
    """The variables of backups: their values, or the keys of the Secret that they refer to."""
    found = chart.variables(pod).items()
    key = lambda it: it["valueFrom"]["secretKeyRef"]["key"] if "valueFrom" in it else it["value"]
    return {name: key(it) for name, it in found if name.startswith("TRAPLINE_BACKUP_")}


class Backup(unittest.TestCase):
    def test_one_process_writes_into_a_volume(self):
        pod = chart.pods({"backup": {"enabled": True, "existingClaim": "archives", "every": "6h"}})["embedded"]
        wanted = {"TRAPLINE_BACKUP_TO": "/backups", "TRAPLINE_BACKUP_EVERY": "6h", "TRAPLINE_BACKUP_KEEP": "7"}
        self.assertEqual(settings(pod), wanted)
        [volume] = [it for it in pod["spec"]["volumes"] if it["name"] == "backups"]
        self.assertEqual(volume["persistentVolumeClaim"], {"claimName": "archives"})
        self.assertIn({"name": "backups", "mountPath": "/backups"}, chart.container(pod)["volumeMounts"])
        self.assertEqual(settings(chart.pods("embedded")["embedded"]), {})

    def test_one_process_writes_where_the_secret_says(self):
        pod = chart.pods({"secrets": SECRET, "backup": {"enabled": True}})["embedded"]
        self.assertEqual(settings(pod)["TRAPLINE_BACKUP_TO"], "backup-to")

    def test_a_cluster_has_a_job(self):
        pod = job(CLUSTER | {"settings": {"cql-keyspace": "mail"}})
        [container] = pod["containers"]
        self.assertEqual((container["args"], "readinessProbe" in container), (["backup"], False))
        names = {it["name"] for it in container["env"]}
        wanted = {"BACKUP_TO", "BLOBS", "CQL", "CQL_KEYSPACE", "NATS", "REDIS", "SECRET_KEY"}
        self.assertEqual(names, {f"TRAPLINE_{name}" for name in wanted})
        self.assertEqual(pod["restartPolicy"], "Never")
        self.assertFalse([it for it in chart.objects("cluster") if it["kind"] == "CronJob"])

    def test_the_job_may_reach_the_services_and_nobody_reaches_it(self):
        here = [{"to": [{"ipBlock": {"cidr": "10.1.0.0/24"}}]}]
        services = {name: here for name in ("cql", "nats", "redis", "s3")}
        values = CLUSTER | {"networkPolicy": {"enabled": True, "services": services}}
        policy = chart.find(values, "NetworkPolicy", "-backup")["spec"]
        self.assertEqual(policy["ingress"], [])
        self.assertEqual(policy["egress"].count(here[0]), 4)


if __name__ == "__main__":
    unittest.main()
