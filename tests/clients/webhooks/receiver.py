"""Takes Trapline's webhooks: python3 receiver.py, with WEBHOOK_SECRET and PORT set."""

import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"]  # all of it, with whsec_
TOLERANCE = 300  # seconds


def is_genuine(secret, timestamp, signature, body):
    """Whether the body (bytes, as they came) was signed with the secret, and lately."""
    if not (timestamp.isascii() and timestamp.isdigit()):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE:
        return False
    signed = timestamp.encode() + b"." + body
    wanted = "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted.encode(), signature.encode())


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        timestamp = self.headers.get("X-Webhook-Timestamp", "")
        signature = self.headers.get("X-Webhook-Signature", "")
        if is_genuine(SECRET, timestamp, signature, body):
            event = json.loads(body)
            # Deliveries may come twice: event["message"]["id"] tells whether this one did.
            print(event["event"], event["message"]["id"], flush=True)
            self.send_response(204)
        else:
            self.send_response(401)
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
    print("listening", server.server_port, flush=True)
    server.serve_forever()
