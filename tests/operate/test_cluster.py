"""The roles as the chart starts them, over real services: `tests/services/run.py exec` says where those are. Migrate
first; then each pod is ready by its probe, mail is taken, waited for and told to a webhook, numbers are shown, and all
end within their grace."""

import base64
import http.server
import json
import os
import smtplib
import ssl
import threading
import time
import unittest
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage

import chart
import kubelet

SERVICES = {"cql": "TRAPLINE_TEST_CQL", "blobs": "TRAPLINE_TEST_S3", "nats": "TRAPLINE_TEST_NATS", "redis": "TRAPLINE_TEST_REDIS"}
MISSING = [name for name in SERVICES.values() if name not in os.environ]
KEYSPACE = f"operate_{os.getpid()}"
TOKEN, KEY = "a-token-of-the-test", "tl_0123456789abcdefghijklmn"
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
# The services' own rules do not matter here, where no policy is enforced; the ports of the pods' do.
ANY = [{"to": [{"ipBlock": {"cidr": "127.0.0.0/8"}}]}]
VALUES = {
    **chart.yaml.safe_load((chart.CHART / "ci" / "cluster.yaml").read_text()),
    "secrets": {"existingSecret": "trapline", "keys": {"apiKey": "api-key"}},
    "settings": {"cql-keyspace": KEYSPACE, "webhook-allow-cidrs": "127.0.0.0/8"},
    "monitoring": {"podMonitor": {"enabled": True}},
    "networkPolicy": {"enabled": True, "services": {name: ANY for name in ("cql", "nats", "redis", "s3")}},
}


def secrets() -> dict[str, dict[str, str]]:
    """The Secret that the values name, with the services of this machine."""
    found = {key: os.environ[name] for key, name in SERVICES.items()}
    bucket, _, parameters = found["blobs"].partition("?")
    found["blobs"] = f"{bucket}/{KEYSPACE}?{parameters}"
    found["secret-key"] = base64.b64encode(os.urandom(32)).decode()
    return {"trapline": found | {"metrics-token": TOKEN, "api-key": KEY}}


class Receiver(http.server.BaseHTTPRequestHandler):
    """The webhook's receiver, which keeps what it is told."""

    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.told.append(told["message"]["id"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@unittest.skipUnless(kubelet.BINARY.exists(), f"{kubelet.BINARY} is not built: no role was started")
@unittest.skipUnless(os.geteuid() == 0, "only root may give a process a root of its own: no role was started")
@unittest.skipIf(MISSING, f"{', '.join(MISSING)} not set (tests/services/run.py exec sets them): no role was started")
class Cluster(unittest.TestCase):
    def setUp(self):
        self.secrets = secrets()
        self.pods = {
            component: kubelet.Pod(component, template, self.secrets, number)
            for number, (component, template) in enumerate(chart.pods(VALUES).items())
        }
        for pod in self.pods.values():
            self.addCleanup(pod.kill)
        self.job = self.pods.pop("migrate")
        self.receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        self.receiver.told = []
        threading.Thread(target=self.receiver.serve_forever, daemon=True).start()
        self.addCleanup(self.receiver.server_close)
        self.addCleanup(self.receiver.shutdown)

    def test_roles_start_serve_and_end_as_they_are_rendered(self):
        self.assertEqual(set(self.pods), set(chart.ROLES))
        self.migrate()
        for pod in self.pods.values():
            pod.start()
        for pod in self.pods.values():
            for probe in PROBES:
                pod.pass_probe(probe)
        self.ports_are_those_of_services_and_policies()
        self.mail_is_waited_for_and_told()
        self.numbers_are_shown()
        self.all_end()

    def migrate(self):
        """The hook, as the Job bounds it."""
        self.job.start()
        deadline = chart.find(VALUES, "Job")["spec"]["activeDeadlineSeconds"]
        self.assertEqual(self.job.process.wait(deadline), 0, self.job.output())
        self.keeps_secrets(self.job)

    def ports_are_those_of_services_and_policies(self):
        for pod in self.pods.values():
            self.assertEqual(pod.listening(), {(pod.ip, port) for port in pod.ports.values()}, pod.component)
        led_to = {component: set() for component in self.pods}
        for it in chart.objects(VALUES):
            if it["kind"] == "Service":
                component = it["spec"]["selector"]["app.kubernetes.io/component"]
                led_to[component] |= {port["targetPort"] for port in it["spec"]["ports"]}
        self.assertEqual(led_to, {"api": {"http"}, "smtp": {"smtp", "smtps"}, "worker": set()})
        for component, pod in self.pods.items():
            policy = chart.find(VALUES, "NetworkPolicy", f"-{component}")["spec"]
            allowed = {port["port"] for rule in policy["ingress"] for port in rule["ports"]}
            self.assertEqual(allowed, set(pod.ports), component)
            self.assertLessEqual(led_to[component], allowed)

    def ask(self, path: str, body: dict | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.pods["api"].url("http", path), data, headers)
        with urllib.request.urlopen(request, timeout=90) as answer:
            return json.load(answer)

    def mail_is_waited_for_and_told(self):
        inbox = self.ask("/api/inboxes", {"name": "Of the chart"})
        url = f"http://127.0.0.1:{self.receiver.server_port}/"
        self.ask("/api/webhooks", {"url": url, "inboxId": inbox["id"]})
        wait = f"/api/inboxes/{inbox['id']}/messages/wait?timeout=60&hasCode=true"
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(self.ask, wait)
            self.send(inbox, "closed", "Without a code", "Nothing to see")
            self.send(inbox, "starttls", "Your code", "Your code is 482913")
            message = waiting.result()["message"]
        self.assertEqual(message["subject"], "Your code")
        for _ in range(600):
            if message["id"] in self.receiver.told:
                return
            time.sleep(0.1)
        self.fail(f"no webhook was called: {self.pods['worker'].output()}")

    def send(self, inbox: dict, tls: str, subject: str, text: str):
        """With the certificate that the installation makes, of an authority that is nobody's."""
        smtp, trust = self.pods["smtp"], ssl._create_unverified_context()
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "app@example.com", "ada@example.com", subject
        mail.set_content(text)
        if tls == "starttls":
            client = smtplib.SMTP(smtp.ip, smtp.ports["smtp"])
            client.starttls(context=trust)
        else:
            client = smtplib.SMTP_SSL(smtp.ip, smtp.ports["smtps"], context=trust)
        with client:
            client.login(inbox["smtp"]["username"], inbox["smtp"]["password"])
            client.send_message(mail)

    def numbers_are_shown(self):
        """At the port and the path of the monitor, with the token that it names and no other."""
        [endpoint] = chart.find(VALUES, "PodMonitor")["spec"]["podMetricsEndpoints"]
        credentials = endpoint["authorization"]["credentials"]
        token = self.secrets[credentials["name"]][credentials["key"]]
        for component, pod in self.pods.items():
            url = pod.url(endpoint["port"], endpoint["path"])
            statuses = [kubelet.status(url, it) for it in ("", "another-token-of-16", token)]
            self.assertEqual(statuses, [401, 401, 200], component)

    def all_end(self):
        for pod in self.pods.values():
            pod.terminate()
        for component, pod in self.pods.items():
            self.assertEqual(pod.ended(), 0, f"{component}: {pod.output()}")
            self.keeps_secrets(pod)

    def keeps_secrets(self, pod: kubelet.Pod):
        """Nor does it print a link, which a collector of logs would keep."""
        for name, value in self.secrets["trapline"].items():
            self.assertNotIn(value, pod.output(), f"{pod.component} tells its {name}")
        self.assertNotIn("token=", pod.output())


if __name__ == "__main__":
    unittest.main()
