"""Holds documents, one in base64 a line, against libxml2's exclusive C14N, and verifies their signatures."""

import base64
import pathlib
import sys

import signxml
import xmlsec
from lxml import etree

SIGNATURE = "{http://www.w3.org/2000/09/xmldsig#}Signature"
# signxml is slow, and another engine than xmlsec's only in part.
SIGNXML_EVERY = 20


def main(folder):
    pem = (folder / "certificate.pem").read_text()
    key = xmlsec.Key.from_memory(pem, xmlsec.KeyFormat.CERT_PEM)
    count = 0
    for line in (folder / "documents").open():
        document = base64.b64decode(line)
        root = etree.fromstring(document)
        canonical = etree.tostring(root, method="c14n", exclusive=True, with_comments=False)
        if canonical != document:
            sys.exit(f"not canonical:\n{document!r}\n{canonical!r}")
        try:
            verify(root, key)
            # It takes the text behind a signature for a part of it, and no message has such text.
            if count % SIGNXML_EVERY == 0 and not root.find(SIGNATURE).tail:
                signxml.XMLVerifier().verify(document, x509_cert=pem)
        except (xmlsec.Error, signxml.InvalidSignature) as error:
            sys.exit(f"{error}:\n{document!r}")
        count += 1
    print(count, "documents")


def verify(root, key):
    context = xmlsec.SignatureContext()
    context.key = key
    context.register_id(root, "ID")
    context.verify(root.find(SIGNATURE))


main(pathlib.Path(sys.argv[1]))
