"""One process as the chart starts it: command, variables, probes, metrics and grace of the rendered pod."""

import os
import signal
import smtplib
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from email.message import EmailMessage
from pathlib import Path

import chart

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", chart.ROOT / "target"))
BINARY = TARGET / "debug" / "trapline"
TOKEN = "a-token-of-the-test"
VALUES = {
    "secrets": {"existingSecret": "trapline", "keys": {"secretKey": ""}},
    "monitoring": {"podMonitor": {"enabled": True}},
}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def status(url: str, token: str = "") -> int:
    """The status of an answer; 0 where nobody listens."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def wait_for(url: str) -> None:
    """Returns once an address answers with 200."""
    for _ in range(300):
        if status(url) == 200:
            return
        time.sleep(0.2)
    raise AssertionError(f"{url} does not answer")


@unittest.skipUnless(BINARY.exists(), f"{BINARY} is not built: no process was started")
class Process(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pod = chart.pods(VALUES)["embedded"]
        self.container = chart.container(self.pod)
        # Ports of this machine instead of the pod's own.
        self.ports = {it["containerPort"]: free_port() for it in self.container["ports"]}
        self.process = subprocess.Popen(
            [BINARY, *self.container["args"]],
            env=self.variables(Path(folder.name)),
            cwd=folder.name,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.addCleanup(self.end)

    def variables(self, folder: Path) -> dict[str, str]:
        found = {}
        for name, variable in chart.variables(self.pod).items():
            value = variable.get("value", TOKEN).replace("/data", str(folder / "data"))
            for port, own in self.ports.items():
                value = value.replace(f"0.0.0.0:{port}", f"127.0.0.1:{own}")
            found[name] = value
        return found

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.ports[8025]}{path}"

    def pass_probe(self, name: str):
        """Probes as a kubelet does."""
        probe = self.container[name]
        for _ in range(probe["failureThreshold"]):
            if status(self.url(probe["httpGet"]["path"])) == 200:
                return
            self.assertIsNone(self.process.poll(), "the process ended")
            time.sleep(probe["periodSeconds"] / 10)
        self.fail(f"{name} does not pass")

    def test_it_starts_takes_mail_shows_metrics_and_ends(self):
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            self.pass_probe(probe)
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "a@example.com", "b@example.com", "Hello"
        with smtplib.SMTP("127.0.0.1", self.ports[1025]) as client:
            client.send_message(mail)
        with smtplib.SMTP_SSL("127.0.0.1", self.ports[1465]) as client:
            client.send_message(mail)
        [endpoint] = chart.find(VALUES, "PodMonitor")["spec"]["podMetricsEndpoints"]
        self.assertEqual(status(self.url(endpoint["path"])), 401)
        self.assertEqual(status(self.url(endpoint["path"]), TOKEN), 200)
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=self.pod["spec"]["terminationGracePeriodSeconds"])
        self.assertEqual(self.process.returncode, 0, out)
        # No key and no link, which a collector of logs would keep.
        self.assertNotIn("tl_", out)
        self.assertNotIn("token=", out)


if __name__ == "__main__":
    unittest.main()
