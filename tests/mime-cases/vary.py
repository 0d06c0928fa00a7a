#!/usr/bin/env python3
"""Writes variations.json: messages made by varying a few things systematically, and what they hold.

The expectations follow from the rules below, not from any parser:
- texts: the first of its multipart is the body; a file name lists the part; a named text that is
  not the first is a file only; a part marked as an attachment is a file only (RFC 8621, 4.1.4);
- boundaries: the parts are those that the body's own delimiters divide, whatever the header names;
- charsets: the letters that went in come out, however their charset is named;
- encodings: the bytes that went in come out;
- authors: the address is the one in angle brackets, or the one with an at sign.
"""

import base64
import binascii
import hashlib
import itertools
import json
import pathlib

CASES = []
HEAD = "From: a@example.test\r\nTo: b@example.test\r\nSubject: v\r\nDate: Thu, 01 Jan 2026 00:00:00 +0000\r\n"


def add(kind, raw, text=None, html=None, att=(), alt=(), frm="a@example.test"):
    raw = raw if isinstance(raw, bytes) else raw.encode()
    listed = lambda parts: [[name, hashlib.sha256(body).hexdigest()[:12]] for name, body in parts]
    CASES.append({
        "id": f"{kind}-{sum(case['id'].startswith(kind + '-') for case in CASES) + 1}",
        "raw": base64.b64encode(raw).decode(),
        "subject": "v", "frm": frm, "text": text, "html": html, "att": listed(att), "alt": listed(alt),
    })


def multipart(kind, parts, boundary="BB"):
    lines = "".join(f"--{boundary}\r\n{part}\r\n" for part in parts)
    return f"{HEAD}Content-Type: multipart/{kind}; boundary={boundary}\r\n\r\n{lines}--{boundary}--\r\n"


def named_texts():
    """File names x dispositions x positions x types x multiparts."""
    names = [None, "type", "disposition"]
    for kind, media, name, disposition, place in itertools.product(
        ["mixed", "related"], ["plain", "html"], names, ["", "inline", "attachment"], ["sole", "first", "later"]
    ):
        if name == "disposition" and not disposition:
            continue
        fields = f"Content-Type: text/{media}; charset=utf-8" + ("; name=\"n.txt\"" if name == "type" else "")
        if disposition:
            fields += f"\r\nContent-Disposition: {disposition}" + ("; filename=n.txt" if name == "disposition" else "")
        part = f"{fields}\r\n\r\nnamed"
        other = "Content-Type: text/plain; charset=utf-8\r\n\r\nother"
        parts = {"sole": [part], "first": [part, other], "later": [other, part]}[place]
        is_body = disposition != "attachment" and (name is None or place != "later")
        plain = [] if place == "sole" else ["other"]
        if is_body and media == "plain":
            plain = plain + ["named"] if place == "later" else ["named"] + plain
        is_listed = name is not None or not is_body
        add(
            "named", multipart(kind, parts), "\n".join(plain) or None,
            "named" if is_body and media == "html" else None,
            [("n.txt" if name else "", b"named")] if is_listed else [],
        )


def boundaries():
    """What the header names x what the body uses x how the message ends."""
    named = [
        "; boundary=other", "; boundary=\"B B\"", "; boundary=\"B\r\n B\"", "; boundary='BB'", "",
        "; boundary=BB charset=utf-8", "; boundary=other\r\nContent-Type: multipart/mixed; boundary=BB",
        "; boundary=\"BB\"; boundary=other", "; boundary=BB",
    ]
    for params, preamble, end in itertools.product(named, ["", "This is a message in parts.\r\n\r\n"], ["--BB--\r\n", ""]):
        body = "--BB\r\nContent-Type: text/plain\r\n\r\nhello\r\n--BB\r\nContent-Type: application/pdf; name=r.pdf\r\n\r\n%PDF\r\n"
        last = b"%PDF" if end else b"%PDF\r\n"
        add("boundary", f"{HEAD}Content-Type: multipart/mixed{params}\r\n\r\n{preamble}{body}{end}", "hello", None, [("r.pdf", last)])


def charsets():
    """Charsets x how the parameter is written x text and HTML."""
    letters = {"utf-8": "Grüße 你好", "iso-8859-1": "Grüße", "windows-1251": "Привет", "koi8-r": "Привет", "shift_jis": "日本語", "gb2312": "订单", "iso-2022-jp": "日本語"}
    forms = ["charset={}", "charset=\"{}\"", "charset='{}'", "charset={} (as sent)", "charset={} format=fixed", "charset=\"{}\"; format=fixed"]
    for (label, text), form in itertools.product(letters.items(), forms):
        head = f"{HEAD}Content-Type: text/plain; {form.format(label)}\r\n\r\n".encode()
        add("charset", head + text.encode(label), text)
    metas = ["<meta charset=\"{}\">", "<META http-equiv=Content-Type content='text/html; charset={}'>"]
    for (label, text), meta in itertools.product(letters.items(), metas):
        html = f"<html><head>{meta.format(label)}</head><p>{text}"
        add("meta", f"{HEAD}Content-Type: text/html\r\n\r\n".encode() + html.encode(label), None, html)


def uuencode(body):
    lines = [binascii.b2a_uu(body[at:at + 45]).rstrip(b"\n") for at in range(0, len(body), 45)]
    return b"\r\n".join([b"begin 644 u.bin", *lines, b"`", b"end"])


def encodings():
    """Encodings and their names x bytes."""
    bodies = [b"hello", bytes(range(256)), b"\0" * 100, b""]
    for name, body in itertools.product(["x-uuencode", "uuencode", "x-uue", "X-UUENCODE"], bodies):
        head = f"Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: {name}\r\n\r\n"
        raw = multipart("mixed", ["Content-Type: text/plain\r\n\r\nx", head + "BODY"]).encode()
        add("uuencode", raw.replace(b"BODY", uuencode(body)), "x", None, [("u.bin", body)])
    for blank, line_end in itertools.product([" ", "\t", " \t "], ["", "=20", "="]):
        body = f"one{line_end}{blank}\r\ntwo"
        text = {"": "one\ntwo", "=20": "one \ntwo", "=": "onetwo"}[line_end]
        add("padding", f"{HEAD}Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n{body}", text)


def flowed():
    """Links and words that soft line breaks divide."""
    for quote, word in itertools.product(["", "> ", ">> "], ["https://example.test/verify?token=abcdef", "日本語テスト"]):
        half = len(word) // 2
        body = f"{quote}{word[:half]} \r\n{quote}{word[half:]}\r\nend"
        depth = quote.strip()
        add("flowed", f"{HEAD}Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes\r\n\r\n{body}", f"{depth}{' ' if depth else ''}{word}\nend")


def authors():
    """What stands before an address x how the address is written."""
    before = [
        "111(aaa）", "111 (aaa", "\"Doe, Ada ", "Doe, Ada ", "Doe, Dr., Ada ", "Ada\" ", "(QA)) Ada ", "[QA ",
        "Acme, Inc. (QA) ", "Team: ", "=?utf-8?q?Doe,_Ada?= ", "\"Ada\" \"Doe\" ", "Ada \\\" ", "'Doe, Ada' ",
    ]
    for name, spec in itertools.product(before, ["<bb@example.test>", "<bb@example.test", "< bb@example.test >"]):
        head = HEAD.replace("From: a@example.test", f"From: {name}{spec}")
        add("author", f"{head}\r\nx", "x", frm="bb@example.test")


def alternatives():
    """Further forms of a body x how they are marked."""
    for media, mark in itertools.product(["text/x-amp-html", "text/calendar", "text/enriched"], ["", "inline", "attachment"]):
        for name in ["", "f.x"]:
            field = f"\r\nContent-Disposition: {mark}" + (f"; filename={name}" if name else "") if mark else ""
            kind = f"{media}; name={name}" if name and not mark else media
            parts = ["Content-Type: text/plain\r\n\r\none", "Content-Type: text/html\r\n\r\n<p>one", f"Content-Type: {kind}{field}\r\n\r\nform"]
            listed = [(name, b"form")]
            is_file = mark == "attachment"
            add("alternative", multipart("alternative", parts), "one", "<p>one", listed if is_file else [], [] if is_file else listed)


for vary in [named_texts, boundaries, charsets, encodings, flowed, authors, alternatives]:
    vary()
lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in CASES)
pathlib.Path(__file__).with_name("variations.json").write_text(f"[\n{lines}\n]\n")
print(len(CASES), "variations")
