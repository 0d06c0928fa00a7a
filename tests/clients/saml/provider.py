"""The provider under test, as a browser and its owner see it, and the sign-ins that each library is led through."""

import html
import json
import os
import re
import sys
import urllib.parse
import urllib.request

SP = "https://sp.example"
ACS = f"{SP}/acs"
EMAIL = "ada@example.com"
FORGED = "attacker@forged.invalid"
SIGNING = ("both", "assertion", "response")
FORMATS = ("emailAddress", "persistent", "transient", "unspecified")
# Each must be refused, or must not lead to the forged name.
FAULTS = (
    "expired", "not_yet_valid", "clock_skew=86400", "clock_skew=-86400", "wrong_issuer", "wrong_audience",
    "bad_signature", "wrong_key", "status_responder", "status_authn_failed", "no_passive", "wrong_recipient",
    "wrong_destination", "wrong_in_response_to", "tampered", "unsigned", "comment_in_nameid", "replay",
    *(f"signature_wrapping={number}" for number in range(1, 9)),
)
FIELD = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)">')


class Provider:
    def __init__(self):
        self.api, self.key = os.environ["IDP"], os.environ["API_KEY"]
        self.shown = self._ask("GET")
        self.metadata_url = self.shown["samlMetadataUrl"]
        self.fields = {}

    def set(self, **changes):
        self._ask("PATCH", changes)

    def rotate(self):
        self._ask("POST", {"what": "keys"}, "/rotate")

    def fault_waits(self, scenario):
        self._ask("POST", {"scenario": scenario}, "/faults")

    def _ask(self, method, body=None, path=""):
        request = urllib.request.Request(self.api + path, method=method)
        request.add_header("Authorization", f"Bearer {self.key}")
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        return json.load(urllib.request.urlopen(request))

    def metadata(self):
        return urllib.request.urlopen(self.metadata_url).read().decode()

    def sign_in(self, url, fault=None):
        """Follows a sign-in to the form that is posted to the service provider."""
        if fault:
            url += ("&" if "?" in url else "?") + urllib.parse.urlencode({"mock_fault": fault})
        return self.page(urllib.request.urlopen(url).read().decode())

    def sign_in_by_post(self, url, request):
        """The same with a request by the POST binding."""
        form = urllib.parse.urlencode({"SAMLRequest": request, "RelayState": "a state"}).encode()
        return self.page(urllib.request.urlopen(url, form).read().decode())

    def page(self, text):
        found = {name: html.unescape(value) for name, value in FIELD.findall(text)}
        if "SAMLResponse" not in found:
            raise SystemExit(f"no response:\n{text}")
        return found


def outcomes(provider, accept, metadata_with_two):
    """Signs in by each variant. `accept(fault=None, **how)` returns a name and the attributes, or raises.
    What became of each, as lines of JSON."""

    def tell(case, name, detail=""):
        print(json.dumps({"case": case, "outcome": name, "detail": str(detail)[:300]}), flush=True)

    def attempt(case, fault=None, **how):
        try:
            name, attributes = accept(fault=fault, **how)
        except Exception as error:  # noqa: BLE001 whatever a library says no by
            return tell(case, "refused", f"{type(error).__name__}: {error}")
        odd = attributes.get("odd")
        expected = [os.environ["ODD"]]
        if fault is None and list(odd or []) != expected:
            return tell(case, "misread", f"{odd!r} {expected!r}")
        return tell(case, f"accepted {name}")

    for sign in SIGNING:
        provider.set(samlSign=sign)
        attempt(f"sign {sign}", sign=sign)
    provider.set(samlSign="both")
    attempt("begun at the provider", is_begun_there=True)
    for form in FORMATS:
        provider.set(samlNameIdFormat=form)
        attempt(f"name {form}", form=form)
    provider.set(samlNameIdFormat="emailAddress")
    for fault in FAULTS:
        # Where only the response is signed in the arrangement, the same is wanted.
        attempt(fault, fault=fault)
    attempt("sha1", fault="sha1", is_strict=True)
    attempt("signature_only_on_response", fault="signature_only_on_response")
    provider.rotate()
    metadata_with_two()
    attempt("two certificates")
    provider.fault_waits("stale_keys")
    metadata_with_two()
    attempt("stale_keys", fault="relaystate_dropped")


sys.dont_write_bytecode = True
