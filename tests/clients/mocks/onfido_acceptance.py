"""What an application does with Onfido, over the official SDK. `client` and `verify` come from the mock's own snippets,
which the test puts before this."""

import json
import tempfile

from harness import Mock, raises
from onfido.exceptions import (
    ApiException, NotFoundException, ServiceException, UnauthorizedException, UnprocessableEntityException,
)
from onfido.webhook_event_verifier import OnfidoInvalidSignatureError

WORKFLOW = "7a4f0000-0000-4000-8000-000000000000"
mock = Mock()


def applicant(last_name="Lovelace"):
    return client.create_applicant(onfido.ApplicantBuilder(first_name="Ada", last_name=last_name))


def check(person, **more):
    builder = onfido.CheckBuilder(applicant_id=person.id, report_names=["document", "facial_similarity_photo"], **more)
    return client.find_check(client.create_check(builder).id)


def run(person):
    builder = onfido.WorkflowRunBuilder(applicant_id=person.id, workflow_id=WORKFLOW)
    return client.find_workflow_run(client.create_workflow_run(builder).id)


# Steps are taken in the calls themselves, until the webhooks below.
mock.settings(pace="instant")

# State, as the strict types of the SDK have it.
ada = applicant()
assert ada.sandbox and client.find_applicant(ada.id).first_name == "Ada"
assert client.update_applicant(ada.id, onfido.ApplicantUpdater(email="ada@example.com")).email == "ada@example.com"
with tempfile.NamedTemporaryFile(suffix=".png") as file:
    file.write(b"\x89PNG" + bytes(2_000_000))
    file.flush()
    document = client.upload_document(type="passport", applicant_id=ada.id, file=file.name)
    photo = client.upload_live_photo(applicant_id=ada.id, file=file.name)
assert (document.file_type, document.file_size, document.type.value) == ("png", 2_000_004, "passport"), document
assert client.find_document(document.id).file_name == document.file_name
assert client.list_documents(ada.id).documents[0].id == document.id
assert client.list_live_photos(ada.id).live_photos[0].id == photo.id
assert client.download_document(document.id).startswith(b"%PDF")
assert client.generate_sdk_token(onfido.SdkTokenBuilder(applicant_id=ada.id, referrer="*")).token
client.delete_applicant(applicant("Gone").id)
assert len(client.list_applicants().applicants) == 1

# Checks and runs, to each of their ends.
clear = check(ada)
assert (clear.status, clear.result) == ("complete", "clear"), clear
reports = client.list_reports(clear.id).reports
assert sorted(report.actual_instance.result.value for report in reports) == ["clear", "clear"], reports
assert client.download_check(clear.id).startswith(b"%PDF")
consider = check(ada, consider=["document"], sub_result="rejected")
assert consider.result == "consider"
found = [report.actual_instance for report in client.list_reports(consider.id).reports]
assert [it.sub_result.value for it in found if it.name.value == "document"] == ["rejected"], found
waiting = client.create_check(onfido.CheckBuilder(applicant_id=ada.id, report_names=["document"], applicant_provides_data=True))
assert waiting.status == "awaiting_applicant" and waiting.form_uri
client.resume_check(waiting.id)
assert client.find_check(waiting.id).status == "complete"
assert run(ada).status.value == "approved"
for code in ("consider", "declined", "review", "abandoned", "error"):
    wanted = "review" if code == "consider" else code
    assert run(applicant(code.capitalize())).status.value == wanted
    mock.settings(decline=code)
    assert run(ada).status.value == wanted
    ended = check(ada)
    assert ended.status == ("withdrawn" if code in ("abandoned", "error") else "complete"), ended
    mock.settings(decline=None)

# Errors, each as the SDK's own.
invalid = raises(UnprocessableEntityException, lambda: client.create_applicant({"first_name": "Ada", "last_name": ""}))
assert json.loads(invalid.body)["error"]["fields"]["last_name"], invalid
raises(NotFoundException, lambda: client.find_applicant("00000000-0000-4000-8000-000000000000"))
for fault, kind, status in (
    ("unauthorized", UnauthorizedException, 401),
    ("rate_limit", ApiException, 429),
    ("server", ServiceException, 500),
):
    mock.settings(next=[{"fault": fault}])
    # The client itself repeats what only reads.
    assert raises(kind, applicant).status == status
mock.settings(next=None)

# A token by OAuth, in place of the mock's own.
credentials = mock.api("GET")["credentials"]
oauth = onfido.Configuration(
    host=configuration.host, oauth_client_id=credentials["clientId"], oauth_client_secret=credentials["clientSecret"],
)
assert onfido.DefaultApi(onfido.ApiClient(oauth)).find_applicant(ada.id).id == ada.id

# Lists, to their end.
for number in range(6):
    applicant(f"No {number}")
total = len(client.list_applicants(per_page=500).applicants)
pages = [client.list_applicants(page=page, per_page=3).applicants for page in range(1, total // 3 + 2)]
assert len({person.id for page in pages for person in page}) == total

# Webhooks.
mock.settings(pace=None)
mock.api("PATCH", body={"webhookUrl": mock.receive()})
run(ada)
seen = []
for _ in range(3):
    headers, body = mock.received()
    seen.append(verify(headers, body, "").payload.action.value)
assert seen == ["workflow_task.started", "workflow_task.completed", "workflow_run.completed"], seen
sent = mock.api("GET", "/webhooks?event=workflow_run.completed")
assert mock.api("POST", f"/webhooks/{sent[0]['id']}/replay")["replayOf"] == sent[0]["id"]
again, replayed = mock.received()
assert verify(again, replayed, "").payload.object.status.value == "approved" and replayed == body
checked = check(ada)
for action in ("check.started", "report.completed", "report.completed", "check.completed"):
    headers, body = mock.received()
    assert verify(headers, body, "").payload.action.value == action
assert client.find_check(checked.id).status == "complete"
mock.settings(webhooks={"events": ["check.completed"], "duplicate": 1})
client.resend_webhooks(onfido.WebhookResend(data=[{"resource_id": checked.id, "event": "check.completed"}]))
for _ in range(2):
    assert verify(*mock.received(), "").payload.object.id == str(checked.id)
mock.settings(webhooks={"duplicate": 0, "badSignature": True})
check(ada)
headers, body = mock.received()
raises(OnfidoInvalidSignatureError, lambda: verify(headers, body, ""))
mock.settings(webhooks=None)

# An address with a token of its own.
mock.api("PATCH", body={"webhookUrl": None})
mine = client.create_webhook(onfido.WebhookBuilder(url=mock.receive(), events=["check.withdrawn"]))
mock.settings(decline="abandoned")
check(ada)
headers, body = mock.received()
own = WebhookEventVerifier(mine.token).read_payload(body.decode(), headers["x-sha2-signature"])
assert own.payload.action.value == "check.withdrawn"
raises(OnfidoInvalidSignatureError, lambda: verify(headers, body, ""))
client.delete_webhook(mine.id)
assert client.list_webhooks().webhooks == []

# What was asked is there to be looked at.
calls = mock.api("GET", f"/calls?objectId={clear.id}")
assert calls["total"] >= 2 and calls["calls"][-1]["operation"] == "POST /v3.6/checks", calls
assert mock.api("GET", "/objects?kind=documents")[0]["id"] == str(document.id)
print("ok")
