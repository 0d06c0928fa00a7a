"""What an application does with Segment, over the official SDK. `client` comes from the mock's own snippet, which the
test puts before this."""

from harness import Mock, raises
from segment.analytics.request import APIError

mock = Mock()


def events(**fields):
    """The events that have these fields."""
    found = (entry["object"] for entry in mock.api("GET", "/objects?kind=events&limit=200"))
    return [event for event in found if all(event.get(name) == value for name, value in fields.items())]


def traits(profile):
    profiles = mock.api("GET", "/objects?kind=profiles")
    return next(found["object"]["traits"] for found in profiles if found["id"] == profile)


# One by one, the snippet's first.
assert [event["event"] for event in events(userId="ada")] == ["Signed Up"]
client.identify("ada", {"plan": "free", "name": "Ada"})
client.identify("ada", {"plan": "pro"})
client.group("ada", "acme", {"seats": 3})
client.page("ada", "Docs", "Mocks")
client.screen("ada", "Home")
client.alias("anonymous", "ada")
kinds = sorted(event["type"] for event in events())
assert kinds == ["alias", "group", "identify", "identify", "page", "screen", "track"], kinds
assert traits("user:ada") == {"plan": "pro", "name": "Ada"} and traits("group:acme") == {"seats": 3}
assert events(type="page")[0]["category"] == "Docs"

# In compressed batches, of a thread of the SDK's own.
failed = []
batches = Client(client.write_key, host=client.host, gzip=True, on_error=lambda error, _: failed.append(error))
for number in range(120):
    batches.track(f"user-{number}", "Counted", {"number": number}, message_id=f"message-{number}")
batches.shutdown()
assert not failed and len(events(event="Counted")) == 120
client.track("user-0", "Counted", message_id="message-again", timestamp=None)

# Errors, each as the SDK's own.
def track():
    client.track("ada", "Failed")


stranger = Client("not-the-key", host=client.host, sync_mode=True, max_retries=0)
refused = raises(APIError, lambda: stranger.track("ada", "Failed"))
assert (refused.status, refused.code) == (401, "invalid_write_key"), refused
for fault, status in (("unauthorized", 401), ("rate_limit", 429), ("server", 500), ("unavailable", 503)):
    mock.settings(next=[{"fault": fault}])
    assert raises(APIError, track).status == status
mock.settings(next=[{"fault": "server"}])
again = Client(client.write_key, host=client.host)
again.track("ada", "Tried again")
again.shutdown()
assert len(events(event="Tried again")) == 1 and not events(event="Failed")

# What was asked is there to be looked at, inflated and without the key.
calls = mock.api("GET", "/calls?objectId=user-7")
assert calls["total"] == 1 and calls["calls"][0]["operation"] == "POST /v1/batch", calls
call = mock.api("GET", f"/calls/{calls['calls'][0]['id']}")
assert call["request"]["encoding"] == "utf8" and client.write_key not in str(call)
print("ok")
