"""What an application does with HubSpot, over the official SDK. `client` and `verify` come from the mock's own
snippets, which the test puts before this."""

from harness import Mock, raises
from hubspot.crm import contacts, deals
from hubspot.exceptions import InvalidSignatureTimestampError

mock = Mock()
api = client.crm.contacts


def make(email, **properties):
    new = contacts.SimplePublicObjectInputForCreate(properties={"email": email, **properties}, associations=[])
    return api.basic_api.create(new)


def refused(status, call, kind=contacts.ApiException):
    error = raises(kind, call)
    assert error.status == status, error
    return json.loads(error.body)


# State.
ada = make("ada@example.com", firstname="Ada", age="36")
assert ada.properties["hs_object_id"] == ada.id and not ada.archived
assert api.basic_api.get_by_id("ada@example.com", id_property="email").id == ada.id
changed = contacts.SimplePublicObjectInput(properties={"age": "37"})
assert api.basic_api.update(ada.id, changed).properties["age"] == "37"
deal = client.crm.deals.basic_api.create(
    deals.SimplePublicObjectInputForCreate(properties={"dealname": "Big", "amount": "100"}, associations=[])
)
assert client.crm.deals.basic_api.get_by_id(deal.id).properties["amount"] == "100"

# Batches, of more than a call asks for one by one.
inputs = [
    contacts.SimplePublicObjectBatchInputForCreate(properties={"email": f"n{number}@a.test", "age": str(number)}, associations=[])
    for number in range(30)
]
made = api.batch_api.create(contacts.BatchInputSimplePublicObjectBatchInputForCreate(inputs=inputs))
assert made.status == "COMPLETE" and len(made.results) == 30
ids = [contacts.SimplePublicObjectId(id=found.id) for found in made.results]
read = api.batch_api.read(
    contacts.BatchReadInputSimplePublicObjectId(inputs=ids, properties=["email"], properties_with_history=[])
)
assert len(read.results) == 30
update = [contacts.SimplePublicObjectBatchInput(id=found.id, properties={"city": "London"}) for found in made.results]
updated = api.batch_api.update(contacts.BatchInputSimplePublicObjectBatchInput(inputs=update))
assert {found.properties["city"] for found in updated.results} == {"London"}
api.batch_api.archive(contacts.BatchInputSimplePublicObjectId(inputs=ids[20:]))

# Associations, merges and upserts.
links = client.crm.associations.v4
assert links.basic_api.create_default("contacts", ada.id, "deals", deal.id).results[0].to.id == deal.id
(linked,) = links.basic_api.get_page("deals", deal.id, "contacts").results
assert (linked.to_object_id, linked.association_types[0].type_id) == (ada.id, 3), linked
seen = api.basic_api.get_by_id(ada.id, associations=["deals"]).associations["deals"].results
assert [(found.id, found.type) for found in seen] == [(deal.id, "contact_to_deal")]
links.basic_api.archive("contacts", ada.id, "deals", deal.id)
assert links.basic_api.get_page("deals", deal.id, "contacts").results == []
double = make("double@example.com", city="Ulm")
kept = api.basic_api.merge(contacts.PublicMergeInput(primary_object_id=ada.id, object_id_to_merge=double.id))
assert (kept.id, kept.properties["city"]) == (ada.id, "Ulm")
upserts = [contacts.SimplePublicObjectBatchInputUpsert(id="n0@a.test", id_property="email", properties={"age": "0"})]
upserted = api.batch_api.upsert(contacts.BatchInputSimplePublicObjectBatchInputUpsert(inputs=upserts))
assert not upserted.results[0].new and upserted.results[0].properties["age"] == "0"

# Lists and searches, to their end.
assert len(api.get_all()) == 21
request = {
    "filterGroups": [{"filters": [{"propertyName": "age", "operator": "BETWEEN", "value": "5", "highValue": "14"}]}],
    "sorts": [{"propertyName": "age", "direction": "DESCENDING"}], "limit": 4,
}
ages, after = [], None
while True:
    page = api.search_api.do_search({**request, **({"after": after} if after else {})})
    assert page.total == 10
    ages += [int(found.properties["age"]) for found in page.results]
    if not page.paging:
        break
    after = page.paging.next.after
assert ages == list(range(14, 4, -1)), ages

# Declines and errors, each as the SDK's own.
assert "Existing ID" in refused(409, lambda: make("ADA@example.com"))["message"]
refused(404, lambda: api.basic_api.get_by_id("999999"))
mock.settings(decline="FORBIDDEN")
assert refused(403, lambda: make("bob@example.com"))["category"] == "MISSING_SCOPES"
mock.settings(decline=None)
for fault, status in (("unauthorized", 401), ("rate_limit", 429), ("server", 500), ("unavailable", 503)):
    mock.settings(next=[{"fault": fault, "times": 20}])
    refused(status, lambda: api.basic_api.get_page())

mock.settings(next=None)

# Webhooks, verified by the SDK.
url = mock.receive()
mock.api("PATCH", body={"webhookUrl": url})
bob = make("bob@example.com")
headers, body = mock.received()
(event,) = verify(headers, body, url)
assert (event["subscriptionType"], str(event["objectId"])) == ("contact.creation", bob.id)
api.basic_api.update(bob.id, contacts.SimplePublicObjectInput(properties={"age": "1", "city": "Paris"}))
found = [verify(*mock.received(), url)[0] for _ in range(2)]
assert sorted(event["propertyName"] for event in found) == ["age", "city"]
sent = mock.api("GET", "/webhooks?event=contact.creation")[0]
assert mock.api("POST", f"/webhooks/{sent['id']}/replay")["replayOf"] == sent["id"]
assert verify(*mock.received(), url) == [event]
for broken, kind in (({"badSignature": True}, ValueError), ({"badSignature": False, "staleBySeconds": 3600}, InvalidSignatureTimestampError)):
    mock.settings(webhooks=broken)
    make(f"{kind.__name__}@example.com")
    headers, body = mock.received()
    raises(kind, lambda: verify(headers, body, url))

# What was asked is there to be looked at.
calls = mock.api("GET", f"/calls?objectId={ada.id}")
assert calls["calls"][-1]["operation"] == "POST /crm/v3/objects/{type}", calls
print("ok")
