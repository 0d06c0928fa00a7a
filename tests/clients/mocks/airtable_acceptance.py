"""What an application does with Airtable, over the official SDK's Python sibling. `client`, `table` and `verify` come
from the mock's own snippets, which the test puts before this."""

from harness import Mock, raises
from pyairtable import formulas
from requests import HTTPError

mock = Mock()


def refused(status, call):
    error = raises(HTTPError, call)
    assert error.response.status_code == status, error
    return error.response.json()


# State, the snippet's record first.
(first,) = table.all()
assert first["fields"] == {"Name": "Ada"} and table.get(first["id"]) == first
table.update(first["id"], {"Age": 36, "Tags": ["a", "b"]})
assert table.update(first["id"], {"Name": "Ada L."}, replace=True)["fields"] == {"Name": "Ada L."}
people = table.batch_create([{"Name": f"Person {number:02}", "Number": number} for number in range(25)])
assert [record["fields"]["Number"] for record in table.all()[1:]] == list(range(25))
table.batch_update([{"id": record["id"], "fields": {"Done": True}} for record in people[:12]])
upserted = table.batch_upsert([{"fields": {"Name": "Person 03", "Number": 300}}, {"fields": {"Name": "New"}}], ["Name"])
assert upserted["updatedRecords"] == [people[3]["id"]] and len(upserted["createdRecords"]) == 1
assert table.delete(first["id"])["deleted"]
table.batch_delete([record["id"] for record in people[20:]])

# Lists: to their end, filtered and sorted.
assert [len(page) for page in table.iterate(page_size=8)] == [8, 8, 5]
assert len(table.all(max_records=3)) == 3
found = table.all(formula=formulas.match({"Done": True, "Name": "Person 03"}), fields=["Number"])
assert [record["fields"] for record in found] == [{"Number": 300}], found
assert len(table.all(formula="AND({Number}>=4, {Number}<10, NOT({Done}=BLANK()))")) == 6
assert table.first(sort=["-Number"])["fields"]["Number"] == 300
assert refused(422, lambda: table.all(formula="NO_SUCH({x})"))["error"]["type"] == "INVALID_FILTER_BY_FORMULA"

# Tables, by their first record.
base = client.base(table.base.id)
base.table("Orders").create({"Name": "1", "Total": 9.5})
assert [found.name for found in base.tables(force=True)] == ["Table 1", "Orders"]
assert base.table("Orders").schema().field("Total").type == "number"
assert client.whoami()["id"].startswith("usr") and client.bases()[0].id == base.id
refused(403, client.table(base.id, "tblAAAAAAAAAAAAAA").all)
refused(404, lambda: table.get("recAAAAAAAAAAAAAA"))

# A decline by setting, and errors.
mock.settings(decline="INVALID_PERMISSIONS")
assert refused(403, lambda: table.create({"Name": "x"}))["error"]["type"] == "INVALID_PERMISSIONS"
mock.settings(decline=None)
hasty = Api(client.api_key, endpoint_url=client.endpoint_url, retry_strategy=None).table(base.id, table.id)
for fault, status in (("unauthorized", 401), ("rate_limit", 429), ("server", 500), ("unavailable", 503)):
    mock.settings(next=[{"fault": fault}])
    refused(status, hasty.first)
mock.settings(next=[{"fault": "rate_limit"}])
assert table.first(), "the SDK tries again"
mock.settings(next=None)

# Webhooks: a ping, and payloads that are pulled.
mock.api("PATCH", body={"webhookUrl": mock.receive()})
created = table.create({"Name": "Told", "Number": 1})
headers, body = mock.received()
ping = verify(headers, body, "")
assert ping.base.id == base.id
(payload,) = base.webhook(ping.webhook.id).payloads()
change = payload.changed_tables_by_id[table.id].created_records_by_id[created["id"]]
assert sorted(map(str, change.cell_values_by_field_id.values())) == ["1", "Told"]
sent = mock.api("GET", "/webhooks")[0]
assert mock.api("POST", f"/webhooks/{sent['id']}/replay")["replayOf"] == sent["id"]
headers, again = mock.received()
assert verify(headers, again, "") and again == body

specification = {"options": {"filters": {"dataTypes": ["tableData"], "recordChangeScope": table.id}}}
registered = base.add_webhook(mock.receive(), specification)
mock.api("PATCH", body={"webhookUrl": None})
table.update(created["id"], {"Number": None})
headers, body = mock.received()
mac = headers["x-airtable-content-mac"]
assert WebhookNotification.from_request(body.decode(), mac, registered.mac_secret_base64).webhook.id == registered.id
raises(ValueError, lambda: verify(headers, body, ""))
webhook = base.webhook(registered.id)
table.delete(created["id"])
mock.received()
changes = [payload.changed_tables_by_id[table.id] for payload in webhook.payloads()]
assert list(changes[0].changed_records_by_id) == changes[1].destroyed_record_ids == [created["id"]]
webhook.extend_expiration()
webhook.delete()
assert not base.webhooks()

# Wrong signatures, and every ping twice.
mock.api("PATCH", body={"webhookUrl": mock.receive(), "settings": {"webhooks": {"badSignature": True}}})
table.create({"Name": "x"})
headers, body = mock.received()
raises(ValueError, lambda: verify(headers, body, ""))
mock.settings(webhooks={"badSignature": False, "duplicate": 1})
table.create({"Name": "x"})
assert [verify(*mock.received(), "").base.id for _ in range(2)] == [base.id] * 2

# What was asked is there to be looked at.
calls = mock.api("GET", f"/calls?objectId={created['id']}")
assert calls["calls"][-1]["operation"] == "POST /v0/{base}/{table}", calls
print("ok")
