"""What an application does with Plaid, over the official SDK. `client` and `verify` come from the mock's own snippets,
which the test puts before this."""

import json
from datetime import date

from harness import Mock, raises
from plaid.exceptions import ApiException

mock = Mock()


def item(**options):
    """The access token of a new item."""
    made = client.sandbox_public_token_create({
        "institution_id": "ins_109508", "initial_products": ["transactions", "auth"], "options": options,
    })
    return client.item_public_token_exchange({"public_token": made.public_token}).access_token


def refused(code, call):
    """The error of a call, as Plaid's clients read it."""
    error = raises(ApiException, call)
    body = json.loads(error.body)
    assert body["error_code"] == code, body
    return error.status, body


def synced(access, cursor=""):
    """All that is new, page by page, and the cursor behind it."""
    found = []
    while True:
        page = client.transactions_sync({"access_token": access, "cursor": cursor, "count": 10})
        found += page.added
        cursor = page.next_cursor
        if not page.has_more:
            return found, cursor


def transfer(access, amount):
    account = client.accounts_get({"access_token": access}).accounts[0].account_id
    return client.transfer_authorization_create({
        "access_token": access, "account_id": account, "type": "debit", "network": "ach", "ach_class": "ppd",
        "amount": amount, "user": {"legal_name": "Ada Lovelace"},
    }).authorization


# State, as the strict types of the SDK have it.
link = client.link_token_create({
    "client_name": "App", "language": "en", "country_codes": ["US"], "user": {"client_user_id": "1"}, "products": ["auth"],
})
assert link.link_token.startswith("link-sandbox-"), link
access = item()
assert client.item_get({"access_token": access}).item.institution_id == "ins_109508"
accounts = client.accounts_balance_get({"access_token": access}).accounts
assert [account.subtype.value for account in accounts] == ["checking", "savings", "credit card"], accounts
assert len(client.auth_get({"access_token": access}).numbers.ach) == 2
assert client.identity_get({"access_token": access}).accounts[0].owners[0].names
assert client.institutions_get({"count": 3, "offset": 0, "country_codes": ["US"]}).total == 6
found, cursor = synced(access)
assert len(found) == 24 and len({it.transaction_id for it in found}) == 24
assert [it.transaction_id for it in synced(access)[0]] == [it.transaction_id for it in found]
january = {"access_token": access, "start_date": date(2026, 1, 1), "end_date": date(2026, 1, 31)}
booked = client.transactions_get({**january, "options": {"count": 2, "offset": 1}})
assert len(booked.transactions) == 2 and booked.total_transactions == 11, booked
client.transactions_refresh({"access_token": access})
client.sandbox_transactions_create({"access_token": access, "transactions": [{
    "date_transacted": date(2026, 2, 1), "date_posted": date(2026, 2, 2), "amount": 12.5, "description": "Lunch",
}]})
new, _ = synced(access, cursor)
assert len(new) == 3 and new[-1].name == "Lunch", new

# A transfer, to each of its ends.
approved = transfer(access, "12.34")
assert approved.decision.value == "approved", approved
new = {"access_token": access, "account_id": accounts[0].account_id, "description": "rent"}
made = client.transfer_create({**new, "authorization_id": approved.id}).transfer
assert client.transfer_create({**new, "authorization_id": approved.id}).transfer.id == made.id
for state in ("posted", "settled", "funds_available", "returned"):
    client.sandbox_transfer_simulate({"transfer_id": made.id, "event_type": state})
    assert client.transfer_get({"transfer_id": made.id}).transfer.status.value == state
for end in ("failed", "cancelled"):
    other = client.transfer_create({**new, "authorization_id": transfer(access, "1.00").id}).transfer
    if end == "failed":
        client.sandbox_transfer_simulate({"transfer_id": other.id, "event_type": "failed"})
    else:
        client.transfer_cancel({"transfer_id": other.id})
    assert client.transfer_get({"transfer_id": other.id}).transfer.status.value == end
page = client.transfer_event_sync({"after_id": 0, "count": 5})
assert page.has_more and [event.event_id for event in page.transfer_events] == [1, 2, 3, 4, 5], page

# Declines, by value and by setting.
above = transfer(access, "100.01")
assert (above.decision.value, above.decision_rationale.code.value) == ("declined", "NSF"), above
for code in ("ITEM_LOGIN_REQUIRED", "PRODUCT_NOT_READY", "INSTITUTION_DOWN"):
    bad = item(override_password=f"error_{code}")
    status, error = refused(code, lambda: client.accounts_get({"access_token": bad}))
    assert status == 400 and error["request_id"], error
    mock.settings(decline=code)
    refused(code, lambda: client.transactions_sync({"access_token": access}))
    mock.settings(decline=None)
client.sandbox_item_reset_login({"access_token": access})
refused("ITEM_LOGIN_REQUIRED", lambda: client.auth_get({"access_token": access}))
assert client.item_get({"access_token": access}).item.error.error_code == "ITEM_LOGIN_REQUIRED"
update = client.link_token_create({
    "client_name": "App", "language": "en", "country_codes": ["US"], "user": {"client_user_id": "1"}, "access_token": access,
})
repaired = update.link_token.replace("link-", "public-")
assert client.item_public_token_exchange({"public_token": repaired}).access_token == access
client.auth_get({"access_token": access})

# Errors, each as the SDK has it.
refused("INVALID_ACCESS_TOKEN", lambda: client.item_get({"access_token": "access-sandbox-none"}))
refused("INVALID_INSTITUTION", lambda: client.institutions_get_by_id({"institution_id": "ins_0", "country_codes": ["US"]}))
for fault, status, code in (
    ("unauthorized", 400, "INVALID_API_KEYS"),
    ("rate_limit", 429, "ACCOUNTS_LIMIT"),
    ("server", 500, "INTERNAL_SERVER_ERROR"),
):
    mock.settings(next=[{"fault": fault}])
    assert refused(code, lambda: client.accounts_get({"access_token": access}))[0] == status
mock.settings(next=None)
strange = plaid_api.PlaidApi(plaid.ApiClient(plaid.Configuration(
    host=configuration.host, api_key={"clientId": configuration.api_key["clientId"], "secret": "0" * 30},
)))
refused("INVALID_API_KEYS", lambda: strange.accounts_get({"access_token": access}))

# Webhooks, and the key that they are verified with.
mock.api("PATCH", body={"webhookUrl": mock.receive()})
CODES = (
    "SYNC_UPDATES_AVAILABLE", "DEFAULT_UPDATE", "ERROR", "PENDING_DISCONNECT", "NEW_ACCOUNTS_AVAILABLE",
    "USER_PERMISSION_REVOKED", "LOGIN_REPAIRED", "SMS_MICRODEPOSITS_VERIFICATION",
)


def fire(code):
    return client.sandbox_item_fire_webhook({"access_token": access, "webhook_code": code})


def fired(code):
    fire(code)
    headers, body = mock.received()
    assert verify(headers, body, ""), body
    assert json.loads(body)["webhook_code"] == code, body
    return headers, body


for code in CODES:
    headers, body = fired(code)
client.item_webhook_update({"access_token": access, "webhook": mock.receive()})
fired("SYNC_UPDATES_AVAILABLE")
sent = mock.api("GET", "/webhooks?event=ITEM.ERROR")
assert mock.api("POST", f"/webhooks/{sent[0]['id']}/replay")["replayOf"] == sent[0]["id"]
again, replayed = mock.received()
assert verify(again, replayed, "") and json.loads(replayed)["webhook_code"] == "ERROR"
assert mock.api("POST", "/rotate", {"credential": "webhookKeyId"})["credentials"]["webhookKeyId"]
assert verify(headers, body, ""), "the key before is given out for a while"
assert jwt.get_unverified_header(fired("ERROR")[0]["plaid-verification"])["kid"] \
    != jwt.get_unverified_header(headers["plaid-verification"])["kid"]
mock.settings(webhooks={"duplicate": 1})
fire("ERROR")
for _ in range(2):
    assert verify(*mock.received(), "")
for broken in ({"badSignature": True}, {"staleBySeconds": 3600, "badSignature": False}):
    mock.settings(webhooks={**broken, "duplicate": 0})
    fire("ERROR")
    headers, body = mock.received()
    raises(ValueError, lambda: verify(headers, body, ""))
mock.settings(webhooks=None)

# What was asked is there to be looked at.
calls = mock.api("GET", f"/calls?objectId={made.id}")
assert calls["total"] >= 2 and calls["calls"][-1]["operation"] == "POST /transfer/create", calls
assert mock.api("GET", "/objects?kind=items")[0]["state"] == "good"
print("ok")
