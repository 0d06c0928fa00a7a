"""What both Python clients share: the server from the environment, messages, and the report."""

import hashlib
import json
import os
import ssl
from email.message import EmailMessage
from email.policy import SMTP

HOST = os.environ["SMTP_HOST"]
PORT = int(os.environ["SMTP_PORT"])
TLS_PORT = int(os.environ["SMTPS_PORT"])
USER = os.environ["SMTP_USER"]
PASSWORD = os.environ["SMTP_PASSWORD"]
FROM = "sender@app.test"
TO = "receiver@app.test"
# Lines that start with a dot are stuffed on the wire (RFC 5321, section 4.5.2).
TEXT = "First line.\n.\n..two dots\nGrüße, 東京\n"


def tls():
    """Trusts the server's own CA and nothing else."""
    return ssl.create_default_context(cafile=os.environ["SMTP_CA"])


def message(subject, sender=FROM, recipient=TO):
    mail = EmailMessage(policy=SMTP)
    mail["From"] = f"Sender <{sender}>"
    mail["To"] = recipient
    mail["Subject"] = subject
    mail.set_content(TEXT)
    return mail


def with_attachments(subject):
    mail = message(subject)
    mail.add_alternative("<p>Hello</p>", subtype="html")
    mail.add_attachment(bytes(range(256)), maintype="application", subtype="pdf", filename="Büro.pdf")
    mail.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="table.csv")
    return mail


def report(mail, raw=None, recipients=None, sender=FROM):
    """One line of JSON for a message that the server took."""
    html = mail.get_body(("html",))
    sent = {
        "subject": str(mail["Subject"]),
        "from": sender,
        "to": recipients or [str(mail["To"])],
        "text": mail.get_body(("plain",)).get_content(),
        "html": html.get_content() if html else None,
        "attachments": [attachment(part) for part in mail.iter_attachments()],
        "raw": hashlib.sha256(raw).hexdigest() if raw else None,
    }
    print(json.dumps(sent), flush=True)


def attachment(part):
    content = part.get_payload(decode=True)
    return {
        "filename": part.get_filename(),
        "contentType": part.get_content_type(),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
