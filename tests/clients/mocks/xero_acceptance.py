"""What an application does with Xero, over the official SDK. `client`, `tenant` and `verify` come from the mock's own
snippets, which the test puts before this."""

import datetime
import json
import urllib.parse
import urllib.request

from harness import Mock, raises
from xero_python.accounting import (
    Account, AccountType, Contact, Contacts, CreditNote, CreditNotes, Invoice, Invoices, Item, Items, LineItem, Payment, Payments,
)
from xero_python.exceptions import (
    AccountingBadRequestException, HTTPStatusException, NotFoundException,
)

mock = Mock()
TODAY = datetime.date(2026, 1, 2)


def invoice(**changed):
    lines = [LineItem(description="Work", quantity=3, unit_amount=33.33, tax_type="OUTPUT2", account_code="200")]
    fields = {"type": "ACCREC", "contact": Contact(name="Ada Ltd"), "line_items": lines, "date": TODAY, "due_date": TODAY}
    return Invoice(**{**fields, "status": "AUTHORISED", **changed})


def bill(**changed):
    return client.create_invoices(tenant, Invoices(invoices=[invoice(**changed)])).invoices[0]


def refused(call):
    error = raises(AccountingBadRequestException, call)
    return error.reason


# State: an invoice to its end, with the contact that it names.
made = bill()
assert (made.invoice_number, made.date, str(made.total)) == ("INV-0001", TODAY, "119.99"), made
(ada,) = client.get_contacts(tenant, where='Name=="Ada Ltd"').contacts
assert made.contact.contact_id == ada.contact_id
part = Payment(invoice=Invoice(invoice_id=made.invoice_id), account=Account(code="090"), date=TODAY, amount=19.99)
assert client.create_payment(tenant, part).payments[0].status == "AUTHORISED"
rest = Payment(invoice=Invoice(invoice_number="INV-0001"), account=Account(code="090"), date=TODAY, amount=100)
client.create_payments(tenant, Payments(payments=[rest]))
paid = client.get_invoice(tenant, made.invoice_id).invoices[0]
assert (paid.status, paid.amount_due, paid.fully_paid_on_date) == ("PAID", 0, TODAY), paid
assert "Authorised" in refused(lambda: client.create_payment(tenant, part))
draft = bill(status="DRAFT")
for status in ("SUBMITTED", "AUTHORISED", "VOIDED"):
    changed = Invoices(invoices=[Invoice(status=status)])
    assert client.update_invoice(tenant, draft.invoice_id, changed).invoices[0].status == status
assert "status" in refused(lambda: client.update_invoice(tenant, draft.invoice_id, Invoices(invoices=[Invoice(status="DRAFT")])))
note = CreditNote(type="ACCRECCREDIT", contact=Contact(contact_id=ada.contact_id), date=TODAY)
assert client.create_credit_notes(tenant, CreditNotes(credit_notes=[note])).credit_notes[0].credit_note_number == "CN-0001"
items = Items(items=[Item(code="A1", name="Bolt"), Item(code="A2", name="Nut")])
assert [item.code for item in client.update_or_create_items(tenant, items).items] == ["A1", "A2"]
client.delete_item(tenant, client.get_item(tenant, "A1").items[0].item_id)
sales = client.create_account(tenant, Account(code="200", name="Sales", type=AccountType.REVENUE)).accounts[0]
assert client.get_account(tenant, sales.account_id).accounts[0].name == "Sales"

# Lists, to their end.
names = [f"Customer {number:02}" for number in range(7)]
client.create_contacts(tenant, Contacts(contacts=[Contact(name=name) for name in names]))
seen, page = [], 1
while found := client.get_contacts(tenant, page=page, page_size=3, order="Name DESC").contacts:
    seen += [contact.name for contact in found]
    page += 1
assert seen == [*reversed(names), "Ada Ltd"], seen
found = client.get_invoices(tenant, where='Status=="PAID" AND Date>=DateTime(2026,01,01)', statuses=["PAID"]).invoices
assert [found.invoice_id for found in found] == [made.invoice_id]

# Declines and errors, each as the SDK's own.
mock.settings(decline="PeriodLocked")
assert "period lock date" in refused(bill)
mock.settings(decline=None)
assert "Name" in refused(lambda: client.create_contacts(tenant, Contacts(contacts=[Contact(name="Ada Ltd")])))
mixed = Invoices(invoices=[invoice(), Invoice(type="ACCREC")])
assert [bool(found.has_errors) for found in client.create_invoices(tenant, mixed, summarize_errors=False).invoices] == [False, True]
raises(NotFoundException, lambda: client.get_invoice(tenant, "INV-9999"))
for fault, status in (("unauthorized", 401), ("server", 500), ("unavailable", 503)):
    mock.settings(next=[{"fault": fault}])
    error = raises(HTTPStatusException, lambda: client.get_contacts(tenant))
    assert error.status == status, error
mock.settings(next=[{"fault": "rate_limit"}])
assert client.get_contacts(tenant).contacts, "the SDK waits and tries again"
mock.settings(next=None)

# Keys of calls.
first = client.create_contacts(tenant, Contacts(contacts=[Contact(name="Once")]), idempotency_key="k")
again = client.create_contacts(tenant, Contacts(contacts=[Contact(name="Once")]), idempotency_key="k")
assert first.contacts[0].contact_id == again.contacts[0].contact_id

# A token is handed out, and works.
root = client.base_url.removesuffix("/api.xro/2.0")
oauth = api_client.configuration.oauth2_token
form = {"grant_type": "client_credentials", "client_id": oauth.client_id, "client_secret": oauth.client_secret}
asked = urllib.request.Request(f"{root}/connect/token", urllib.parse.urlencode(form).encode())
token = {**token, **json.load(urllib.request.urlopen(asked))}
connections = urllib.request.Request(f"{root}/connections", headers={"Authorization": f"Bearer {token['access_token']}"})
assert json.load(urllib.request.urlopen(connections))[0]["tenantId"] == tenant

# Webhooks, verified by the documented steps.
mock.settings(strict=True, webhooks={"retry": "fast"})
mock.api("PATCH", body={"webhookUrl": mock.receive(verify)})
for _ in ("well signed", "badly signed"):
    assert json.loads(mock.received()[1])["events"] == []
told = bill()
headers, body = mock.received()
(event,) = verify(headers, body, "")["events"]
assert (event["resourceId"], event["eventCategory"], event["eventType"]) == (told.invoice_id, "INVOICE", "CREATE")
sent = mock.api("GET", "/webhooks?event=INVOICE.CREATE")[0]
assert mock.api("POST", f"/webhooks/{sent['id']}/replay")["replayOf"] == sent["id"]
headers, again = mock.received()
assert verify(headers, again, "") and again == body
mock.settings(webhooks={"badSignature": True})
bill()
headers, body = mock.received()
raises(ValueError, lambda: verify(headers, body, ""))

# What was asked is there to be looked at.
calls = mock.api("GET", f"/calls?objectId={made.invoice_id}")
assert calls["calls"][-1]["operation"] == "PUT /api.xro/2.0/{type}", calls
print("ok")
