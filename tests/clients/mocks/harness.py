"""What the programs of all providers share: the mock over this server's API, and a receiver of its webhooks."""

import json
import os
import queue
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATIENCE = 60


def raises(kind, call):
    """The error of a call that has to fail."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


class Mock:
    """The mock that the environment names."""

    def __init__(self):
        self.url, self.key, self.address = (os.environ[name] for name in ("MOCK", "API_KEY", "RECEIVER"))
        self.requests = queue.Queue()

    def api(self, method, path="", body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def settings(self, **changed):
        self.api("PATCH", body={"settings": changed})

    def receive(self, verify=None):
        """An address whose requests `received` gives, one after the other. What `verify` raises ValueError for is answered
        with 401, and all else with 200."""
        requests = self.requests

        class Receiver(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                try:
                    status = 200
                    if verify:
                        verify(headers, body, "")
                except ValueError:
                    status = 401
                # Before the answer, upon which the next one may come.
                requests.put((headers, body))
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer((self.address, 0), Receiver)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://{self.address}:{server.server_port}/hooks?a=1"

    def received(self):
        return self.requests.get(timeout=PATIENCE)
