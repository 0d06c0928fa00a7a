"""What an application does with Twilio, over the official SDK. `client` and `verify` come from the mock's own
snippets, which the test puts before this."""

from harness import Mock, raises
from twilio.base.exceptions import TwilioRestException

mock = Mock()
FROM, TO = "+15005550006", "+15005550010"


def send(**changed):
    return client.messages.create(**{"to": TO, "from_": FROM, "body": "Hello", **changed})


def refused(status, code, call):
    error = raises(TwilioRestException, call)
    assert (error.status, error.code) == (status, code), error


# State.
mock.settings(pace="instant")
message = send(body="щ" * 71)
assert message.num_segments == "2" and message.sid.startswith("SM"), message.num_segments
assert client.messages(message.sid).fetch().status == "delivered"
assert client.messages(message.sid).update(body="").body == ""
assert client.messages(message.sid).delete()
refused(404, 20404, client.messages(message.sid).fetch)

# Lists, to their end.
sent = [send(body=f"Message {number}").sid for number in range(7)]
assert [message.sid for message in client.messages.list(page_size=3)] == sent[::-1]
assert client.messages.list(to="+15005550099") == []

# Verify and lookups.
service = client.verify.v2.services.create(friendly_name="Ours")
verification = client.verify.v2.services(service.sid).verifications.create(to=TO, channel="sms")
checks = client.verify.v2.services(service.sid).verification_checks
wrong = checks.create(to=TO, code="000000")
assert (wrong.status, wrong.valid) == ("pending", False)
right = checks.create(to=TO, code="123456")
assert (right.status, right.valid) == ("approved", True)
refused(404, 20404, lambda: checks.create(to=TO, code="123456"))
assert client.verify.v2.services(service.sid).verifications(verification.sid).fetch().status == "approved"
assert client.lookups.v2.phone_numbers(TO).fetch().valid

# Declines, by value and by setting, and other mistakes.
for number, code in (("01", 21211), ("02", 21612), ("03", 21408), ("04", 21610), ("09", 21614)):
    refused(400, code, lambda: send(to=f"+150055500{number}"))
for number, code in (("01", 21212), ("07", 21606), ("08", 21611)):
    refused(400, code, lambda: send(from_=f"+150055500{number}"))
mock.settings(decline="21610")
refused(400, 21610, send)
mock.settings(decline=None)
refused(400, 21602, lambda: client.messages.create(to=TO, from_=FROM))
refused(400, 21617, lambda: send(body="x" * 1601))
for fault, status, code in (("unauthorized", 401, 20003), ("rate_limit", 429, 20429), ("server", 500, 20500)):
    mock.settings(next=[{"fault": fault}])
    refused(status, code, send)

mock.settings(next=None)

# Calls and numbers.
def call(**changed):
    return client.calls.create(**{"to": TO, "from_": FROM, "url": "http://app.example/voice", **changed})


dialled = call()
assert client.calls(dialled.sid).fetch().status == "completed"
assert client.calls(call(to="+15005550012").sid).fetch().status == "busy"
refused(400, 21220, lambda: client.calls(dialled.sid).update(status="completed"))
mock.settings(pace="manual")
waiting = call()
assert waiting.status == "queued"
assert client.calls(waiting.sid).update(status="completed").status == "completed"
mock.settings(pace="instant")
assert [found.sid for found in client.calls.list(to=TO, page_size=1)] == [waiting.sid, dialled.sid]
for number, code in (("01", 21217), ("02", 21214), ("03", 21215), ("04", 21216)):
    refused(400, code, lambda: call(to=f"+150055500{number}"))
mock.settings(decline="21216")
refused(400, 21216, call)
mock.settings(decline=None, next=[{"fault": "unavailable"}])
refused(503, 20503, call)
mock.settings(next=None)
number = client.incoming_phone_numbers.create(phone_number=FROM)
assert [found.sid for found in client.incoming_phone_numbers.list()] == [number.sid]
assert number.update(friendly_name="Shop").friendly_name == "Shop" and number.delete()
refused(400, 21422, lambda: client.incoming_phone_numbers.create(phone_number="+15005550000"))

# Webhooks: to the mock's address, and to the message's own.
url = mock.receive()
mock.api("PATCH", body={"webhookUrl": url})
told = send()
forms = [verify(*mock.received(), url) for _ in range(2)]
assert [form["MessageStatus"] for form in forms] == ["sent", "delivered"]
assert all(form["MessageSid"] == told.sid for form in forms)
sent = mock.api("GET", "/webhooks?event=message.delivered")[0]
assert mock.api("POST", f"/webhooks/{sent['id']}/replay")["replayOf"] == sent["id"]
assert verify(*mock.received(), url) == forms[1]
mock.api("PATCH", body={"webhookUrl": None})
own = mock.receive()
send(status_callback=own)
assert [verify(*mock.received(), own)["MessageStatus"] for _ in range(2)] == ["sent", "delivered"]
call(status_callback=own, status_callback_event=["initiated", "ringing", "answered", "completed"])
forms = [verify(*mock.received(), own) for _ in range(4)]
assert [form["CallStatus"] for form in forms] == ["initiated", "ringing", "in-progress", "completed"]
assert [form["SequenceNumber"] for form in forms] == ["0", "1", "2", "3"]
mock.settings(webhooks={"badSignature": True, "events": ["message.sent"]})
send(status_callback=own)
headers, body = mock.received()
raises(ValueError, lambda: verify(headers, body, own))

# What was asked is there to be looked at.
calls = mock.api("GET", f"/calls?objectId={told.sid}")
assert calls["calls"][-1]["operation"] == "POST /2010-04-01/Accounts/{account}/Messages.json", calls
print("ok")
