"""python3-saml as a service provider."""

import base64
import copy
import json
import urllib.parse
import urllib.request

from provider import ACS, EMAIL, SP, Provider, outcomes
from python3_saml_setup import client, settings

provider = Provider()
known = {}


def load():
    known.clear()
    known.update(settings(provider.metadata_url, SP))


def request_to(path, get=None, post=None):
    return {
        "https": "on", "http_host": "sp.example", "script_name": path,
        "get_data": get or {}, "post_data": post or {},
    }


def accept(fault=None, sign="both", form="emailAddress", is_begun_there=False, is_strict=False):
    mine = copy.deepcopy(known)
    mine["security"] = {
        "wantAssertionsSigned": sign != "response",
        "wantMessagesSigned": sign != "assertion",
        "rejectDeprecatedAlgorithm": is_strict,
    }
    if fault and fault.startswith("signature_wrapping"):
        of_response = fault in ("signature_wrapping=1", "signature_wrapping=2")
        mine["security"] |= {"wantAssertionsSigned": not of_response, "wantMessagesSigned": of_response}
    # The policy names the format that is set.
    version = "2.0" if form in ("persistent", "transient") else "1.1"
    mine["sp"]["NameIDFormat"] = f"urn:oasis:names:tc:SAML:{version}:nameid-format:{form}"
    asking = client(mine, request_to("/"))
    url = provider.shown["endpoints"]["samlSso"] if is_begun_there else asking.login("a state")
    fields = provider.sign_in(url, fault)
    answered = client(mine, request_to("/acs", post=fields))
    answered.process_response(None if is_begun_there else asking.get_last_request_id())
    if not answered.is_authenticated():
        raise ValueError(f"{answered.get_errors()} {answered.get_last_error_reason()}")
    if not is_begun_there and fault is None:
        assert fields["RelayState"] == "a state", fields
    return answered.get_nameid(), answered.get_attributes()


def redirect_of(url, cookie=None):
    """The address that a request is sent on to, and the cookie that came with it."""

    class Stop(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    request = urllib.request.Request(url, headers={"Cookie": cookie} if cookie else {})
    try:
        urllib.request.build_opener(Stop).open(request)
    except urllib.error.HTTPError as answer:
        return answer.headers["Location"]
    raise SystemExit("no redirect")


def query_of(url):
    return dict(urllib.parse.parse_qsl(url.split("?", 1)[1]))


def sign_out():
    """Begun at the application, and then at the provider."""
    provider.set(samlSloUrl=f"{SP}/slo")
    mine = copy.deepcopy(known)
    mine["security"] = {"wantMessagesSigned": True}
    asking = client(mine, request_to("/"))
    url = asking.login()
    with urllib.request.urlopen(url) as answer:
        cookie = answer.headers["Set-Cookie"].split(";")[0]
        fields = provider.page(answer.read().decode())
    answered = client(mine, request_to("/acs", post=fields))
    answered.process_response(asking.get_last_request_id())
    assert answered.is_authenticated(), answered.get_last_error_reason()
    name, index = answered.get_nameid(), answered.get_session_index()

    leaving = client(mine, request_to("/"))
    left = query_of(redirect_of(leaving.logout("a state", name_id=name, session_index=index), cookie))
    assert left["RelayState"] == "a state", left
    done = client(mine, request_to("/slo", get=left))
    done.process_slo(request_id=leaving.get_last_request_id(), keep_local_session=True)
    first = done.get_errors() or "accepted"

    asked = query_of(redirect_of(provider.shown["endpoints"]["samlSlo"], cookie))
    told = client(mine, request_to("/slo", get=asked))
    back = told.process_slo(keep_local_session=True)
    second = told.get_errors() or "accepted"
    page = urllib.request.urlopen(back).read().decode()
    assert "has ended its session too" in page, page
    for case, outcome in (("logout begun there", first), ("logout begun here", second)):
        print(json.dumps({"case": case, "outcome": outcome, "detail": ""}), flush=True)


load()
outcomes(provider, accept, load)
load()
sign_out()
