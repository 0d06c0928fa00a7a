"""One process as the chart starts it: command, variables, volumes, probes, metrics and grace of the rendered pod."""

import os
import smtplib
import socket
import subprocess
import time
import unittest
from email.message import EmailMessage

import chart
import kubelet

BINARY = kubelet.BINARY
TOKEN = "a-token-of-the-test"
SECRETS = {"trapline": {"metrics-token": TOKEN}}
VALUES = {
    "secrets": {"existingSecret": "trapline", "keys": {"secretKey": ""}},
    "monitoring": {"podMonitor": {"enabled": True}},
}
status = kubelet.status


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_for(url: str) -> None:
    """Returns once an address answers with 200."""
    for _ in range(300):
        if status(url) == 200:
            return
        time.sleep(0.2)
    raise AssertionError(f"{url} does not answer")


@unittest.skipUnless(BINARY.exists(), f"{BINARY} is not built: no process was started")
@unittest.skipUnless(os.geteuid() == 0, "only root may give a process a root of its own: no process was started")
class Process(unittest.TestCase):
    def setUp(self):
        self.pod = kubelet.Pod("embedded", chart.pods(VALUES)["embedded"], SECRETS, 0)
        self.addCleanup(self.pod.kill)

    def test_it_starts_takes_mail_shows_metrics_and_ends(self):
        self.pod.start()
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            self.pod.pass_probe(probe)
        self.assertEqual(self.pod.listening(), {(self.pod.ip, port) for port in self.pod.ports.values()})
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "a@example.com", "b@example.com", "Hello"
        with smtplib.SMTP(self.pod.ip, self.pod.ports["smtp"]) as client:
            client.send_message(mail)
        with smtplib.SMTP_SSL(self.pod.ip, self.pod.ports["smtps"]) as client:
            client.send_message(mail)
        [endpoint] = chart.find(VALUES, "PodMonitor")["spec"]["podMetricsEndpoints"]
        url = self.pod.url(endpoint["port"], endpoint["path"])
        self.assertEqual((status(url), status(url, TOKEN)), (401, 200))
        self.pod.terminate()
        self.assertEqual(self.pod.ended(), 0, self.pod.output())
        # No key and no link, which a collector of logs would keep.
        self.assertNotIn("tl_", self.pod.output())
        self.assertNotIn("token=", self.pod.output())

    def test_nothing_but_its_volumes_can_be_written(self):
        for folder in ("/", "/usr", "/etc"):
            done = subprocess.run(
                self.pod.enclosed(self.pod.command()),
                env=self.pod.environment() | {"TRAPLINE_DATA": f"{folder}/made"},
                capture_output=True,
                text=True,
                timeout=60,
            )
            self.assertEqual(done.returncode, 1, folder)
            self.assertIn("Read-only file system", done.stderr)


if __name__ == "__main__":
    unittest.main()
