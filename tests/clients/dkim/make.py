#!/usr/bin/env python3
"""Writes tests/dkim/mails.json: mail signed by dkimpy and by mailauth, whole and changed, and what both say of it.

    tests/setup.sh && tests/.tools/python/bin/python tests/clients/dkim/make.py

The keys are made for it and not kept: only their DNS records are. With `--check` nothing is written: both say anew what
they say of the mails that are there, and another verdict fails.
"""

import base64
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import dkim

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1]
TOOLS = Path(os.environ.get("DKIM_TOOLS", TESTS / ".tools" / "dkim"))
MAILS = TESTS / "dkim" / "mails.json"
DOMAIN = "example.com"
KEYS = ("rsa1024", "rsa2048", "rsa4096", "ed25519")
# Keys that sign a message together.
USED = [*([name] for name in KEYS), ["rsa2048", "ed25519"]]
CANONICALIZATIONS = ("simple/simple", "simple/relaxed", "relaxed/simple", "relaxed/relaxed")
BODY = "Hello  Bob,\r\n\r\n grüße \t \r\n.\r\nbye\r\n\r\n\r\n"
MESSAGE = (
    "From: Ada <ada@example.com>\r\nTo: bob@example.org\r\n"
    "Subject: Signed  twice\r\n over two lines\r\nDate: Mon, 02 Mar 2026 09:00:00 +0000\r\n"
    "Message-ID: <1@example.com>\r\nMIME-Version: 1.0\r\n"
    "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
) + BODY
# One change each, as what is replaced and by what; an empty first one stands for the end.
CHANGES = {
    "whole": ("Hello", "Hello"),
    "body": ("Bob", "Rob"),
    "header": ("Signed", "Sighed"),
    "a field more": ("\r\nMIME-Version:", "\r\nX-Other: 1\r\nMIME-Version:"),
    "blanks of the body": ("Hello  Bob", "Hello Bob"),
    "blanks of a header": ("Signed  twice", "Signed twice"),
    "case of a name": ("\r\nSubject:", "\r\nSUBJECT:"),
    "blank lines at the end": ("", "\r\n\r\n"),
    "text at the end": ("", "P.S.\r\n"),
}


def openssl(*arguments, data=None):
    return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout


class Key:
    """A private key and its record."""

    def __init__(self, name):
        self.name = name
        if name == "ed25519":
            self.pem = openssl("genpkey", "-algorithm", "ed25519")
            raw = openssl("pkey", "-pubout", "-outform", "DER", data=self.pem)[-32:]
            self.record = "v=DKIM1; k=ed25519; p=" + base64.b64encode(raw).decode()
            seed = openssl("pkey", "-outform", "DER", data=self.pem)[-32:]
            self.private, self.algorithm = base64.b64encode(seed), b"ed25519-sha256"
        else:
            self.pem = openssl("genrsa", name.removeprefix("rsa"))
            der = openssl("rsa", "-pubout", "-outform", "DER", data=self.pem)
            self.record = "v=DKIM1; k=rsa; p=" + base64.b64encode(der).decode()
            self.private, self.algorithm = self.pem, b"rsa-sha256"

    @property
    def owner(self):
        return f"{self.name}._domainkey.{DOMAIN}"


def by_dkimpy(keys, canonicalization, length):
    message = MESSAGE.encode()
    for key in keys:
        signature = dkim.sign(
            message,
            key.name.encode(),
            DOMAIN.encode(),
            key.private,
            canonicalize=tuple(part.encode() for part in canonicalization.split("/")),
            signature_algorithm=key.algorithm,
            include_headers=[b"from", b"to", b"subject", b"date"],
            length=length is not None,
        )
        message = signature + message
    return message.decode()


class Mailauth:
    """The oracle of Node, for as long as it is needed."""

    def __init__(self):
        # Packages are looked for beside the program.
        program = TOOLS / "oracle.mjs"
        program.write_text((HERE / "oracle.mjs").read_text())
        self.process = subprocess.Popen(
            ["node", str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def sign(self, keys, canonicalization, length):
        keys = [{"selector": key.name, "domain": DOMAIN, "pem": key.pem.decode()} for key in keys]
        return self.ask(sign=MESSAGE, keys=keys, canonicalization=canonicalization, length=length)[
            "message"
        ]


def dkimpy_says(message, records, names):
    """Whether each signature passes, from the top."""

    def texts(name, timeout=5):
        return records.get(name.decode().rstrip(".")).encode()

    said = {}
    for index, name in enumerate(names):
        try:
            said[name] = dkim.DKIM(message.encode()).verify(idx=index, dnsfunc=texts)
        except dkim.DKIMException:
            said[name] = False
    return said


def changed(message, change):
    before, after = change
    return message.replace(before, after, 1) if before else message + after


def verdicts(message, names, records, mailauth):
    """What both say of a message, whole and changed."""
    order = sorted(names, key=lambda name: message.index(f"s={name};"))
    said = []
    for name, change in CHANGES.items():
        text = changed(message, change)
        theirs = mailauth.ask(check=text, records=records)["results"]
        said.append(
            {"change": name, "dkimpy": dkimpy_says(text, records, order), "mailauth": theirs}
        )
    return said


def make(mailauth):
    keys = {name: Key(name) for name in KEYS}
    records = {key.owner: key.record for key in keys.values()}
    signers = {"dkimpy": by_dkimpy, "mailauth": mailauth.sign}
    mails = []
    for signer, names, canonicalization, is_part in itertools.product(
        signers, USED, CANONICALIZATIONS, (False, True)
    ):
        length = len(BODY.encode()) - 4 if is_part else None
        message = signers[signer]([keys[name] for name in names], canonicalization, length)
        mails.append(
            {
                "about": f"{signer}, {' and '.join(names)}, {canonicalization}" + ", l=" * is_part,
                "selectors": names,
                "message": message,
                "verdicts": verdicts(message, names, records, mailauth),
            }
        )
    return {"records": records, "changes": CHANGES, "mails": mails}


def check(mailauth):
    """The mails of which somebody says something else now."""
    stored = json.loads(MAILS.read_text())
    for mail in stored["mails"]:
        now = verdicts(mail["message"], mail["selectors"], stored["records"], mailauth)
        if now != mail["verdicts"]:
            yield mail["about"]


def main():
    mailauth = Mailauth()
    if "--check" in sys.argv:
        others = list(check(mailauth))
        print("\n".join(others) or "all verdicts are as they were")
        return bool(others)
    MAILS.write_text(json.dumps(make(mailauth), indent=1, ensure_ascii=False) + "\n")
    return 0


sys.exit(main())
