"""What the chart makes of each of its files of values."""

import functools
import json
import re
import unittest

import chart

CLUSTER = {"mode": "cluster", "secrets": {"existingSecret": "trapline"}}
# Fields that an upgrade cannot change.
SELECTOR = {"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component"}


def settings_of(command: str) -> set[str]:
    known = json.loads((chart.CHART / "files" / "settings.json").read_text())
    return {it["variable"] for it in known.values() if command in it["of"]}


def each_render(test):
    """A test that is made of the render of every file of values."""

    @functools.wraps(test)
    def run(self):
        for file in chart.VALUES:
            with self.subTest(file.stem):
                test(self, file.stem, chart.objects(file.stem))

    return run


class EveryRender(unittest.TestCase):
    def test_all_are_looked_at(self):
        self.assertEqual(len(chart.VALUES), 7)

    def test_helm_finds_nothing_to_blame(self):
        for file in chart.VALUES:
            chart.helm("lint", "--strict", chart.CHART, "--values", file)

    @each_render
    def test_objects_have_names_that_fit_and_the_namespace(self, values, objects):
        names = [(it["kind"], it["metadata"]["name"]) for it in objects]
        self.assertEqual(len(names), len(set(names)))
        for it in objects:
            self.assertLessEqual(len(it["metadata"]["name"]), 63)
            if it["metadata"]["name"] not in ("more", f"{chart.RELEASE}-text"):
                self.assertEqual(it["metadata"]["namespace"], chart.NAMESPACE)

    @each_render
    def test_selectors_hold_nothing_that_changes_with_a_release(self, values, objects):
        for it in objects:
            if it["kind"] in ("Deployment", "StatefulSet"):
                self.assertEqual(set(it["spec"]["selector"]["matchLabels"]), SELECTOR)
            if it["kind"] == "Service":
                self.assertEqual(set(it["spec"]["selector"]), SELECTOR)

    @each_render
    def test_pods_run_as_nobody_over_a_read_only_root(self, values, objects):
        for pod in chart.pods(values).values():
            spec, one = pod["spec"], chart.container(pod)
            self.assertIs(spec["automountServiceAccountToken"], False)
            self.assertIs(spec["enableServiceLinks"], False)
            self.assertEqual(spec["securityContext"]["runAsUser"], 65532)
            self.assertIs(spec["securityContext"]["runAsNonRoot"], True)
            self.assertEqual(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault")
            self.assertIs(one["securityContext"]["readOnlyRootFilesystem"], True)
            self.assertIs(one["securityContext"]["allowPrivilegeEscalation"], False)
            self.assertEqual(one["securityContext"]["capabilities"], {"drop": ["ALL"]})
            self.assertIn("memory", one["resources"]["limits"])
            self.assertNotIn("cpu", one["resources"]["limits"])

    @each_render
    def test_variables_are_settings_of_the_command(self, values, objects):
        own = {"SSL_CERT_DIR"}
        for component, pod in chart.pods(values).items():
            command = chart.container(pod)["args"][0]
            self.assertEqual(command, {"embedded": "serve"}.get(component, component))
            names = [it["name"] for it in chart.container(pod)["env"]]
            self.assertEqual(len(names), len(set(names)))
            self.assertEqual(set(names) - settings_of(command) - own, set(), component)

    @each_render
    def test_secrets_are_references(self, values, objects):
        known = json.loads((chart.CHART / "values.schema.json").read_text())
        public = set(known["definitions"]["settings"]["properties"])
        public |= {"smtp-proxy-from", "smtp-proxy-protocol"}
        for pod in chart.pods(values).values():
            for name, variable in chart.variables(pod).items():
                flag = name.removeprefix("TRAPLINE_").lower().replace("_", "-")
                if "value" in variable and flag not in public:
                    self.assertRegex(variable["value"], r"^(0\.0\.0\.0:\d+|/.+)$", name)

    @each_render
    def test_mounts_have_volumes(self, values, objects):
        claims = {
            claim["metadata"]["name"]
            for it in objects
            for claim in it.get("spec", {}).get("volumeClaimTemplates", [])
        }
        for pod in chart.pods(values).values():
            volumes = {it["name"] for it in pod["spec"]["volumes"]} | claims
            mounts = {it["name"] for it in chart.container(pod)["volumeMounts"]}
            self.assertLessEqual(mounts, volumes)

    @each_render
    def test_services_lead_to_ports_of_pods_that_there_are(self, values, objects):
        pods = chart.pods(values)
        for service in (it for it in objects if it["kind"] == "Service"):
            selector = service["spec"]["selector"]
            pod = pods[selector["app.kubernetes.io/component"]]
            self.assertLessEqual(selector.items(), pod["metadata"]["labels"].items())
            ports = {it["name"] for it in chart.container(pod)["ports"]}
            for port in service["spec"]["ports"]:
                self.assertIn(port["targetPort"], ports)

    @each_render
    def test_listeners_are_the_ports(self, values, objects):
        names = {name: f"TRAPLINE_{name.upper()}" for name in ("http", "https", "smtp", "smtps")}
        for component, pod in chart.pods(values).items():
            if component == "migrate":
                continue
            variables = chart.variables(pod)
            listeners = {
                name: int(variables[variable]["value"].rsplit(":")[-1])
                for name, variable in names.items()
                if variable in variables
            }
            ports = chart.container(pod)["ports"]
            self.assertEqual({it["name"]: it["containerPort"] for it in ports}, listeners)

    def test_two_renders_are_the_same(self):
        for file in chart.VALUES:
            once = chart.text(file.stem)
            chart.text.cache_clear()
            self.assertEqual(chart.text(file.stem), once)


class Embedded(unittest.TestCase):
    def test_one_process_needs_nothing(self):
        kinds = sorted(it["kind"] for it in chart.objects("embedded"))
        self.assertEqual(kinds, ["Service", "Service", "ServiceAccount", "StatefulSet"])
        server = chart.find("embedded", "StatefulSet")
        self.assertEqual(server["spec"]["replicas"], 1)
        claim = server["spec"]["volumeClaimTemplates"][0]["spec"]
        self.assertEqual(claim["resources"]["requests"]["storage"], "20Gi")
        self.assertNotIn("storageClassName", claim)

    def test_the_open_smtp_port_of_one_process_stays_inside(self):
        self.assertEqual(chart.find("embedded", "Service", "-smtp")["spec"]["type"], "ClusterIP")
        self.assertEqual(chart.find("cluster", "Service", "-smtp")["spec"]["type"], "LoadBalancer")

    def test_clients_are_told_the_services(self):
        variables = chart.variables(chart.pods("embedded")["embedded"])
        self.assertEqual(
            {name: it["value"] for name, it in variables.items() if "value" in it},
            {
                "TRAPLINE_HTTP": "0.0.0.0:8025",
                "TRAPLINE_SMTP": "0.0.0.0:1025",
                "TRAPLINE_SMTPS": "0.0.0.0:1465",
                "TRAPLINE_DATA": "/data",
                "TRAPLINE_SHUTDOWN_DELAY": "5s",
                "TRAPLINE_BASE_URL": "http://mail-trapline-api.sandbox.svc",
                "TRAPLINE_SMTP_HOST": "mail-trapline-smtp.sandbox.svc",
                "TRAPLINE_SMTP_PORT": "25",
                "TRAPLINE_SMTPS_PORT": "465",
            },
        )

    def test_volumes(self):
        def disk(**values):
            return {"embedded": {"persistence": values}}

        def data(values):
            volumes = chart.pods(values)["embedded"]["spec"]["volumes"]
            return [it for it in volumes if it["name"] == "data"]

        self.assertEqual(data("embedded"), [])
        self.assertEqual(data(disk(enabled=False)), [{"name": "data", "emptyDir": {}}])
        claim = {"name": "data", "persistentVolumeClaim": {"claimName": "old"}}
        self.assertEqual(data(disk(existingClaim="old")), [claim])

    def test_notes_name_what_there_is(self):
        notes = chart.notes("embedded")
        self.assertIn("exec statefulset/mail-trapline -- trapline key create", notes)
        self.assertIn("exec deploy/mail-trapline-api -- trapline key create", chart.notes("cluster"))
        self.assertNotRegex(notes, r"<no value>|%!")


class Cluster(unittest.TestCase):
    def test_migrate_runs_before_what_needs_it(self):
        hooks = {
            (it["kind"], it["metadata"]["annotations"]["helm.sh/hook-weight"])
            for it in chart.objects("locked-down")
            if "helm.sh/hook" in it["metadata"].get("annotations", {})
        }
        wanted = {("ServiceAccount", "-10"), ("NetworkPolicy", "-10"), ("Job", "-5")}
        self.assertEqual(hooks, wanted)
        pod = chart.pods("production")["migrate"]
        self.assertEqual(pod["spec"]["restartPolicy"], "Never")
        self.assertEqual(chart.container(pod)["args"], ["migrate", "--quiet"])
        self.assertIn("TRAPLINE_API_KEY", chart.variables(pod))
        self.assertNotIn("migrate", chart.pods({**CLUSTER, "migrate": {"enabled": False}}))

    def test_each_role_has_the_secrets_that_it_takes(self):
        for role in chart.ROLES:
            variables = chart.variables(chart.pods("production")[role])
            for name in ("SECRET_KEY", "CQL", "BLOBS", "NATS", "REDIS"):
                reference = variables[f"TRAPLINE_{name}"]["valueFrom"]["secretKeyRef"]
                key = name.lower().replace("_", "-")
                self.assertEqual(reference, {"name": "trapline", "key": key})
            self.assertEqual("TRAPLINE_RELAY_PASSWORD" in variables, role != "smtp")
            self.assertNotIn("TRAPLINE_API_KEY", variables)

    def test_settings_go_to_the_roles_that_take_them(self):
        pods = chart.pods("production")
        taken = {
            role: chart.variables(pods[role]).get("TRAPLINE_MAX_STREAMS", {}).get("value")
            for role in chart.ROLES
        }
        self.assertEqual(taken, {"api": "10000", "smtp": None, "worker": None})
        for role in chart.ROLES:
            self.assertEqual(chart.variables(pods[role])["TRAPLINE_LOG_FORMAT"]["value"], "json")
        self.assertEqual(
            chart.variables(pods["smtp"])["TRAPLINE_SMTP_MESSAGE"]["value"], "50MiB"
        )

    def test_a_rollout_adds_before_it_takes_away(self):
        for role in chart.ROLES:
            spec = chart.find("cluster", "Deployment", f"-{role}")["spec"]
            rolling = spec["strategy"]["rollingUpdate"]
            self.assertEqual(rolling, {"maxUnavailable": 0, "maxSurge": "25%"})
            self.assertEqual(spec["replicas"], 2)
            self.assertEqual(len(spec["template"]["spec"]["topologySpreadConstraints"]), 2)
            budget = chart.find("cluster", "PodDisruptionBudget", f"-{role}")["spec"]
            self.assertEqual(budget["maxUnavailable"], 1)
            self.assertEqual(budget["selector"], spec["selector"])

    def test_probes(self):
        for role in chart.ROLES:
            one = chart.container(chart.pods("cluster")[role])
            found = {
                name: (it["httpGet"]["path"], it["periodSeconds"] * it["failureThreshold"])
                for name, it in one.items()
                if name.endswith("Probe")
            }
            wanted = {
                "startupProbe": ("/livez", 240),
                "livenessProbe": ("/livez", 60),
                "readinessProbe": ("/readyz", 30),
            }
            self.assertEqual(found, wanted)
        ready = chart.container(chart.pods("everything")["api"])["readinessProbe"]
        self.assertEqual((ready["periodSeconds"], ready["failureThreshold"]), (5, 3))
        self.assertEqual(ready["httpGet"]["path"], "/readyz?services=false")

    def test_the_grace_is_longer_than_delay_and_drain(self):
        for file in chart.VALUES:
            for component, pod in chart.pods(file.stem).items():
                self.assertGreater(pod["spec"]["terminationGracePeriodSeconds"], 5 + 30)
                if component != "migrate":
                    delay = chart.variables(pod)["TRAPLINE_SHUTDOWN_DELAY"]
                    self.assertEqual(delay["value"], "5s")

    def test_a_load_balancer_says_who_the_client_is(self):
        pods = chart.pods("production")
        variables = chart.variables(pods["smtp"])
        self.assertEqual(variables["TRAPLINE_SMTP_PROXY_PROTOCOL"]["value"], "required")
        self.assertEqual(variables["TRAPLINE_SMTP_PROXY_FROM"]["value"], "10.20.0.0/16")
        self.assertNotIn("TRAPLINE_SMTP_PROXY_PROTOCOL", chart.variables(pods["api"]))
        self.assertNotIn("TRAPLINE_SMTP_PROXY_PROTOCOL", chart.variables(chart.pods("cluster")["smtp"]))

    def test_the_client_address_is_kept(self):
        service = chart.find("production", "Service", "-smtp")["spec"]
        self.assertEqual(service["externalTrafficPolicy"], "Local")
        ports = {it["name"]: it["port"] for it in service["ports"]}
        wanted = {"smtp": 25, "submission": 587, "smtps": 465, "smtp-2525": 2525}
        self.assertEqual(ports, wanted)

    def test_certificates_and_images(self):
        pods = chart.pods("production")
        mounts = {
            role: {it["mountPath"] for it in chart.container(pods[role])["volumeMounts"]}
            for role in chart.ROLES
        }
        self.assertEqual(mounts["worker"], {"/tmp", "/etc/trapline/certificates"})
        self.assertEqual(mounts["smtp"] - mounts["worker"], {"/etc/trapline/tls"})
        self.assertRegex(chart.container(pods["api"])["image"], "trapline@sha256:[0-9a-f]{64}$")
        self.assertEqual(chart.container(chart.pods("everything")["api"])["image"], "trapline:1.2.3")

    def test_clients_are_told_the_ingress(self):
        values = {"ingress": {"enabled": True, "hosts": ["a.example"], "tls": [{"hosts": ["a.example"]}]}}
        variables = chart.variables(chart.pods(values)["embedded"])
        self.assertEqual(variables["TRAPLINE_BASE_URL"]["value"], "https://a.example")
        gateway = chart.variables(chart.pods("gateway")["embedded"])
        self.assertEqual(gateway["TRAPLINE_BASE_URL"]["value"], "https://mail.example.com")


class Monitoring(unittest.TestCase):
    def test_the_monitor_finds_every_process_and_calls_it_as_rules_do(self):
        monitor = chart.find("production", "PodMonitor")["spec"]
        [expression] = monitor["selector"]["matchExpressions"]
        [endpoint] = monitor["podMetricsEndpoints"]
        [relabeling] = endpoint["relabelings"]
        self.assertEqual(relabeling["targetLabel"], "job")
        self.assertEqual(expression["values"], list(chart.ROLES))
        for role in chart.ROLES:
            labels = chart.pods("production")[role]["metadata"]["labels"]
            self.assertLessEqual(monitor["selector"]["matchLabels"].items(), labels.items())
            job = relabeling["replacement"].replace("$1", labels[expression["key"]])
            self.assertEqual(job, f"trapline-{role}")
        self.assertEqual((endpoint["port"], endpoint["path"]), ("http", "/api/metrics"))
        credentials = {"name": "trapline", "key": "metrics-token"}
        self.assertEqual(endpoint["authorization"]["credentials"], credentials)

    def test_rules_are_the_plain_file_but_for_what_values_say(self):
        plain = chart.yaml.safe_load((chart.CHART / "files" / "rules.yaml").read_text())
        everything = chart.find("everything", "PrometheusRule")["spec"]
        wanted = {it["alert"]: it for it in plain["groups"][0]["rules"]}
        del wanted["TraplineVersionsDiffer"]
        wanted["TraplineSlow"]["labels"]["severity"] = "page"
        self.assertEqual({it["alert"]: it for it in everything["groups"][0]["rules"]}, wanted)
        for rule in chart.find("production", "PrometheusRule")["spec"]["groups"][0]["rules"]:
            page = f"https://docs.example.com/runbooks/{rule['alert']}.md"
            self.assertEqual(rule["annotations"]["runbook_url"], page)

    def test_dashboards_are_the_plain_files(self):
        found = {}
        for it in chart.objects("everything"):
            if it["kind"] == "ConfigMap" and "grafana_dashboard" in it["metadata"].get("labels", {}):
                found |= it["data"]
        files = (chart.CHART / "files" / "dashboards").glob("*.json")
        wanted = {f"trapline-{it.name}": it.read_text().rstrip("\n") for it in files}
        self.assertEqual({name: it.rstrip("\n") for name, it in found.items()}, wanted)


class Scaling(unittest.TestCase):
    def test_what_scales_has_no_number_of_its_own(self):
        for values in ("production", "keda"):
            for role in chart.ROLES:
                self.assertNotIn("replicas", chart.find(values, "Deployment", f"-{role}")["spec"])

    def test_cpu_scales_slowly_down(self):
        for role in chart.ROLES:
            spec = chart.find("production", "HorizontalPodAutoscaler", f"-{role}")["spec"]
            self.assertEqual(spec["scaleTargetRef"]["name"], f"mail-trapline-{role}")
            self.assertEqual(spec["behavior"]["scaleDown"]["stabilizationWindowSeconds"], 300)
            self.assertGreater(spec["minReplicas"], 1)

    def test_lanes_are_those_of_the_queue(self):
        lanes = (chart.ROOT / "libs/store/src/ports/queue.rs").read_text()
        lanes = set(re.findall(r'^    \w+ = "([a-z_]+)",', lanes, re.MULTILINE)) - {"housekeeping"}
        triggers = chart.find("keda", "ScaledObject", "-worker")["spec"]["triggers"]
        lag = [it["metadata"] for it in triggers if it["type"] == "nats-jetstream"]
        self.assertEqual({it["consumer"] for it in lag}, lanes)
        self.assertEqual({it["stream"] for it in lag}, {"MAIL_JOBS"})
        thresholds = {it["consumer"]: it["lagThreshold"] for it in lag}
        self.assertEqual((thresholds["mail"], thresholds["received"]), ("10", "100"))

    def test_queries_name_metrics_that_there_are(self):
        known = (chart.ROOT / "docs" / "metrics.md").read_text()
        for role in ("api", "smtp"):
            trigger = chart.find("keda", "ScaledObject", f"-{role}")["spec"]["triggers"][1]
            for name in re.findall("trapline_[a-z_]+", trigger["metadata"]["query"]):
                self.assertIn(f"| `{name}` |", known)
            self.assertEqual(trigger["authenticationRef"], {"name": "prometheus"})


class NetworkPolicies(unittest.TestCase):
    def policy(self, values, component):
        return chart.find(values, "NetworkPolicy", f"-{component}")["spec"]

    def blocks(self, policy):
        return [
            peer["ipBlock"]
            for rule in policy["egress"]
            for peer in rule.get("to", [])
            if "ipBlock" in peer
        ]

    def test_each_pod_has_one(self):
        policies = [it for it in chart.objects("locked-down") if it["kind"] == "NetworkPolicy"]
        found = {it["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] for it in policies}
        self.assertEqual(found, set(chart.pods("locked-down")))
        self.assertTrue(all(it["spec"]["policyTypes"] == ["Ingress", "Egress"] for it in policies))

    def test_only_named_ports_are_open(self):
        ports = {
            role: [
                port["port"]
                for rule in self.policy("locked-down", role)["ingress"]
                for port in rule["ports"]
            ]
            for role in (*chart.ROLES, "migrate")
        }
        wanted = {"api": ["http"], "smtp": ["http", "smtp", "smtps"], "worker": ["http"], "migrate": []}
        self.assertEqual(ports, wanted)
        monitoring = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
        self.assertEqual(self.policy("locked-down", "worker")["ingress"][0]["from"], monitoring)
        self.assertEqual(len(self.policy("locked-down", "api")["ingress"][0]["from"]), 2)

    def test_nothing_leaves_but_to_what_is_named(self):
        for role in (*chart.ROLES, "migrate"):
            policy = self.policy("locked-down", role)
            self.assertNotIn("0.0.0.0/0", [it["cidr"] for it in self.blocks(policy)])
            self.assertTrue(all(rule.get("to") for rule in policy["egress"]))

    def test_the_internet_has_no_private_ranges(self):
        values = {"networkPolicy": {"enabled": True}, "settings": {"webhook-allow-cidrs": "10.9.0.0/16, fd00::/8"}}
        blocks = self.blocks(self.policy(values, "trapline-embedded"))
        [all_four] = [it for it in blocks if it["cidr"] == "0.0.0.0/0"]
        for private in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"):
            self.assertIn(private, all_four["except"])
        self.assertLess({"10.9.0.0/16", "fd00::/8"}, {it["cidr"] for it in blocks})


if __name__ == "__main__":
    unittest.main()
