"""pysaml2 as a service provider; it verifies by the xmlsec1 command."""

import logging

from provider import ACS, SP, Provider, outcomes
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.client import Saml2Client
from saml2.config import SPConfig

logging.disable(logging.CRITICAL)
provider = Provider()
known = []


def load():
    known[:] = [provider.metadata()]


def client(sign, is_begun_there):
    service_provider = {
        "endpoints": {"assertion_consumer_service": [(ACS, BINDING_HTTP_POST)]},
        "allow_unsolicited": is_begun_there,
        "want_assertions_signed": sign != "response",
        "want_response_signed": sign != "assertion",
        "authn_requests_signed": False,
    }
    config = SPConfig()
    config.load({
        "entityid": SP,
        "service": {"sp": service_provider},
        "metadata": {"inline": known},
        "xmlsec_binary": "/usr/bin/xmlsec1",
        # Attributes with the names that they have.
        "allow_unknown_attributes": True,
    })
    return Saml2Client(config)


def accept(fault=None, sign="both", form="emailAddress", is_begun_there=False, is_strict=False):
    if fault and fault.startswith("signature_wrapping"):
        sign = "response" if fault in ("signature_wrapping=1", "signature_wrapping=2") else "assertion"
    mine = client(sign, is_begun_there)
    version = "2.0" if form in ("persistent", "transient") else "1.1"
    policy = f"urn:oasis:names:tc:SAML:{version}:nameid-format:{form}"
    if is_begun_there:
        outstanding, url = {}, provider.shown["endpoints"]["samlSso"]
    else:
        request, info = mine.prepare_for_authenticate(
            binding=BINDING_HTTP_REDIRECT, relay_state="a state", nameid_format=policy
        )
        outstanding, url = {request: "/"}, dict(info["headers"])["Location"]
    fields = provider.sign_in(url, fault)
    answer = mine.parse_authn_request_response(
        fields["SAMLResponse"], BINDING_HTTP_POST, outstanding=outstanding
    )
    if answer is None or answer.name_id is None:
        raise ValueError("no answer")
    return answer.name_id.text, answer.ava


load()
outcomes(provider, accept, load)
