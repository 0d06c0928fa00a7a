"""Signs a message by dkimpy, with a key made for it: `sign.py BITS CANONICALIZATION [length] MESSAGE`.

Writes JSON: the signed message, and the key's record for selector s1 of example.com.
"""

import base64
import json
import subprocess
import sys

import dkim


def openssl(*arguments, data=None):
    return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout


bits, canonicalization, *rest = sys.argv[1:]
message = rest[-1].encode()
private = openssl("genrsa", bits)
public = openssl("rsa", "-pubout", "-outform", "DER", data=private)
signature = dkim.sign(
    message,
    b"s1",
    b"example.com",
    private,
    canonicalize=tuple(part.encode() for part in canonicalization.split("/")),
    length="length" in rest[:-1],
)
record = "v=DKIM1; k=rsa; p=" + base64.b64encode(public).decode()
json.dump({"message": (signature + message).decode(), "key": record}, sys.stdout)
