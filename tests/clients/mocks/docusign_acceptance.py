"""What an application does with DocuSign, over the official SDK. `client`, `account` and `verify` come from the mock's
own snippets, which the test puts before this."""

import base64
import json
import urllib.error
import urllib.parse
import urllib.request

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from docusign_esign.client.api_exception import ApiException

from harness import Mock, raises

mock = Mock()
envelopes = docusign.EnvelopesApi(client)
templates = docusign.TemplatesApi(client)
PDF = base64.b64encode(b"%PDF-1.4").decode()


class Stay(urllib.request.HTTPRedirectHandler):
    """Takes a redirect as an answer."""

    def redirect_request(self, *_):
        return None


def signer(email="ada@example.com", order="1", **more):
    return docusign.Signer(
        email=email, name="Ada Lovelace", recipient_id=order, routing_order=order, client_user_id="7", **more,
    )


def definition(*signers, **more):
    return docusign.EnvelopeDefinition(**{
        "email_subject": "Please sign",
        "documents": [docusign.Document(document_base64=PDF, name="Contract", file_extension="pdf", document_id="1")],
        "recipients": docusign.Recipients(signers=list(signers) or [signer()]),
        "status": "sent",
        **more,
    })


def sent(*signers, **more):
    return envelopes.create_envelope(account, envelope_definition=definition(*signers, **more)).envelope_id


def status(envelope):
    return envelopes.get_envelope(account, envelope).status


def move(envelope, to):
    return mock.api("POST", f"/objects/{envelope}/move", {"to": to})


def refused(code, call):
    error = raises(ApiException, call)
    assert json.loads(error.body)["errorCode"] == code, error
    return error.status


# An envelope, to each of its ends.
envelope = sent(signer(), signer("bob@example.com", "2"))
assert status(envelope) == "sent"
states = [one.status for one in envelopes.list_recipients(account, envelope).signers]
assert states == ["sent", "created"], states
move(envelope, "completed")
move(envelope, "completed")
assert status(envelope) == "completed"
documents = envelopes.list_documents(account, envelope).envelope_documents
assert [document.document_id for document in documents] == ["1", "certificate"], documents
for document in ("1", "combined", "certificate"):
    assert envelopes.get_document(account, document, envelope).startswith(b"%PDF")
assert len(envelopes.list_audit_events(account, envelope).audit_events) > 3
for end in ("delivered", "declined", "voided"):
    other = sent()
    move(other, end)
    assert status(other) == end
draft = sent(status="created")
assert status(draft) == "created"
envelopes.update(account, draft, envelope=docusign.Envelope(status="sent"))
envelopes.update(account, draft, envelope=docusign.Envelope(status="voided", voided_reason="a mistake"))
assert envelopes.get_envelope(account, draft).voided_reason == "a mistake"
for address, end in (("decline", "declined"), ("void", "voided"), ("bounce", "sent")):
    assert status(sent(signer(f"{address}@example.com"))) == end
for code, end in (("declined", "declined"), ("voided", "voided"), ("autoresponded", "sent")):
    mock.settings(decline=code)
    assert status(sent()) == end
mock.settings(decline=None, pace="instant")
assert status(sent()) == "completed"
mock.settings(pace=None)

# The page of a signer, who comes back to the app.
envelope = sent()
view = docusign.RecipientViewRequest(
    return_url="http://app.example.com/done?a=1", email="ada@example.com", user_name="Ada Lovelace", client_user_id="7",
    authentication_method="none",
)
url = envelopes.create_recipient_view(account, envelope, recipient_view_request=view).url
with urllib.request.urlopen(url) as answer:
    page = answer.read().decode()
assert "Please sign" in page and "Finish" in page and "Decline" in page, page
form = urllib.parse.urlencode({"to": "completed"}).encode()
back = raises(urllib.error.HTTPError, lambda: urllib.request.build_opener(Stay).open(url, data=form))
assert (back.code, back.headers["location"]) == (303, "http://app.example.com/done?a=1&event=signing_complete"), back
assert status(envelope) == "completed"

# Templates.
template = templates.create_template(account, envelope_template=docusign.EnvelopeTemplate(
    name="Contract", email_subject="Sign this",
    documents=[docusign.Document(document_base64=PDF, name="Terms", document_id="1")],
    recipients=docusign.Recipients(signers=[docusign.Signer(role_name="buyer", recipient_id="1")]),
))
of_template = docusign.EnvelopeDefinition(template_id=template.template_id, status="sent", template_roles=[
    docusign.TemplateRole(email="ada@example.com", name="Ada", role_name="buyer"),
])
made = envelopes.create_envelope(account, envelope_definition=of_template)
assert envelopes.list_recipients(account, made.envelope_id).signers[0].email == "ada@example.com"
assert templates.list_templates(account).envelope_templates[0].name == "Contract"

# Errors, as the SDK has them.
assert refused("ENVELOPE_DOES_NOT_EXIST", lambda: status("00000000-0000-4000-8000-000000000000")) == 404
assert refused("ENVELOPE_IS_INCOMPLETE", lambda: sent(documents=[])) == 400
assert refused("INVALID_REQUEST_PARAMETER", lambda: envelopes.list_status_changes(account)) == 400
for fault, code, number in (
    ("unauthorized", "AUTHORIZATION_INVALID_TOKEN", 401),
    ("rate_limit", "HOURLY_APIINVOCATION_LIMIT_EXCEEDED", 429),
    ("server", "UNSPECIFIED_ERROR", 500),
):
    mock.settings(next=[{"fault": fault}])
    # The client itself repeats what only reads.
    assert refused(code, sent) == number
mock.settings(next=None)

# Lists, to their end.
position, seen = 0, []
while True:
    page = envelopes.list_status_changes(account, from_date="2026-01-01", count="5", start_position=str(position))
    seen += [one.envelope_id for one in page.envelopes]
    position += int(page.result_set_size)
    if not page.next_uri:
        break
assert len(seen) == len(set(seen)) == int(page.total_set_size), seen

# A token by a JWT. The SDK asks for it over https only, so this is what it sends.
own = mock.api("GET")
base, credentials = own["baseUrl"], own["credentials"]
key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
claims = {"iss": credentials["integrationKey"], "sub": credentials["userId"], "aud": base, "scope": "signature"}
form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": jwt.encode(claims, key, "RS256")}
with urllib.request.urlopen(f"{base}/oauth/token", data=urllib.parse.urlencode(form).encode()) as answer:
    token = json.load(answer)
request = urllib.request.Request(
    f"{base}/oauth/userinfo", headers={"Authorization": f"{token['token_type']} {token['access_token']}"},
)
with urllib.request.urlopen(request) as answer:
    assert json.load(answer)["accounts"][0] == {
        "account_id": account, "account_name": "Trapline", "base_uri": base, "is_default": True,
    }

# Webhooks.
mock.api("PATCH", body={"webhookUrl": mock.receive()})


def told(*events):
    for event in events:
        headers, body = mock.received()
        assert verify(headers, body, "") and json.loads(body)["event"] == event, body
    return headers, body


envelope = sent()
told("envelope-created", "envelope-sent", "recipient-sent")
move(envelope, "completed")
headers, body = told("recipient-delivered", "recipient-completed", "envelope-delivered", "envelope-completed")
assert json.loads(body)["data"]["envelopeSummary"]["status"] == "completed"
delivery = mock.api("GET", "/webhooks?event=envelope-completed")[0]["id"]
assert mock.api("POST", f"/webhooks/{delivery}/replay")["replayOf"] == delivery
assert told("envelope-completed")[1] == body
mock.api("PATCH", body={"webhookUrl": None})
notice = docusign.EventNotification(
    url=mock.receive(), envelope_events=[docusign.EnvelopeEvent(envelope_event_status_code="sent")],
)
sent(event_notification=notice)
told("envelope-sent")
configuration = docusign.ConnectApi(client).create_configuration(
    account, connect_custom_configuration=docusign.ConnectCustomConfiguration(
        name="Ours", url_to_publish_to=mock.receive(), events=["envelope-voided"], all_users="true",
    ),
)
move(sent(), "voided")
told("envelope-voided")
docusign.ConnectApi(client).delete_configuration(account, configuration.connect_id)
mock.api("PATCH", body={"webhookUrl": mock.receive()})
mock.settings(webhooks={"events": ["envelope-sent"], "duplicate": 1})
sent()
told("envelope-sent", "envelope-sent")
mock.settings(webhooks={"duplicate": 0, "badSignature": True})
sent()
raises(ValueError, lambda: verify(*mock.received(), ""))
mock.settings(webhooks={"badSignature": False})
mock.api("POST", "/rotate", {"credential": "connectKey"})
sent()
told("envelope-sent")

# What was asked is there to be looked at.
calls = mock.api("GET", f"/calls?objectId={envelope}")
assert calls["total"] >= 1 and calls["calls"][-1]["operation"].startswith("POST /restapi/v2.1/accounts/"), calls
assert mock.api("GET", "/objects?kind=templates")[0]["id"] == template.template_id
print("ok")
