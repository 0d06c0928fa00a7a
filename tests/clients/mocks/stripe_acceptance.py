"""What an application does with Stripe, over the official SDK. `client` and `verify` come from the mock's own snippets,
which the test puts before this."""

from harness import Mock, raises

PAYMENT = {"amount": 1000, "currency": "usd", "confirm": True, "payment_method": "pm_card_visa"}
mock = Mock()


def pay(**changed):
    return client.v1.payment_intents.create(params={**PAYMENT, **changed})


def events(count):
    """So many webhooks, as the SDK reads them."""
    found = []
    for _ in range(count):
        headers, body = mock.received()
        found.append((verify(headers, body, "").type, headers, body))
    return found


# State.
intent = pay()
assert intent.status == "succeeded", intent
assert client.v1.payment_intents.retrieve(intent.id).amount_received == 1000
refund = client.v1.refunds.create(params={"payment_intent": intent.id, "amount": 400})
assert refund.status == "succeeded"
charge = client.v1.charges.retrieve(intent.latest_charge)
assert charge.amount_refunded == 400 and not charge.refunded

# Declines, by value and by setting.
by_value = raises(stripe.CardError, lambda: pay(payment_method="pm_card_chargeDeclinedInsufficientFunds"))
assert (by_value.code, by_value.http_status) == ("card_declined", 402), by_value
assert by_value.error.decline_code == "insufficient_funds"
mock.settings(decline="expired_card")
assert raises(stripe.CardError, pay).code == "expired_card"
mock.settings(decline=None)

# Errors, each as the SDK's own.
raises(stripe.InvalidRequestError, lambda: client.v1.payment_intents.create(params={"currency": "usd"}))
missing = raises(stripe.InvalidRequestError, lambda: client.v1.customers.retrieve("cus_none"))
assert (missing.http_status, missing.code) == (404, "resource_missing")
mock.settings(next=[{"fault": "unauthorized"}])
raises(stripe.AuthenticationError, client.v1.customers.list)
mock.settings(next=[{"fault": "rate_limit", "times": 10}])
raises(stripe.RateLimitError, client.v1.customers.list)
mock.settings(next=[{"fault": "server", "times": 10}])
raises(stripe.APIError, client.v1.customers.list)
mock.settings(next=[{"fault": "server"}])
again = client.v1.payment_intents.create(params=PAYMENT, options={"max_network_retries": 2})
assert again.status == "succeeded", again
mock.settings(next=None)

# Keys of calls.
first = client.v1.customers.create(params={"email": "ada@example.com"}, options={"idempotency_key": "k"})
again = client.v1.customers.create(params={"email": "ada@example.com"}, options={"idempotency_key": "k"})
assert first.id == again.id
other = lambda: client.v1.customers.create(params={"email": "bob@example.com"}, options={"idempotency_key": "k"})
raises(stripe.IdempotencyError, other)

# Lists, to their end.
for number in range(6):
    client.v1.customers.create(params={"name": f"Customer {number}"})
listed = [customer.id for customer in client.v1.customers.list(params={"limit": 3}).auto_paging_iter()]
assert len(listed) == len(set(listed)) == 7, listed

# Webhooks.
mock.api("PATCH", body={"webhookUrl": mock.receive()})
pay()
kinds = [kind for kind, _, _ in events(3)]
assert kinds == ["payment_intent.created", "charge.succeeded", "payment_intent.succeeded"], kinds
sent = mock.api("GET", "/webhooks?event=charge.succeeded")
assert mock.api("POST", f"/webhooks/{sent[0]['id']}/replay")["replayOf"] == sent[0]["id"]
(kind, _, body), = events(1)
assert kind == "charge.succeeded" and body.decode() == mock.api("GET", f"/webhooks/{sent[0]['id']}")["body"]
mock.settings(webhooks={"events": ["customer.created"], "duplicate": 1})
client.v1.customers.create()
assert [kind for kind, _, _ in events(2)] == ["customer.created"] * 2
for broken in ({"badSignature": True}, {"staleBySeconds": 3600, "badSignature": False}):
    mock.settings(webhooks={**broken, "duplicate": 0})
    client.v1.customers.create()
    headers, body = mock.received()
    raises(stripe.SignatureVerificationError, lambda: verify(headers, body, ""))
mock.settings(webhooks=None)

# What was asked is there to be looked at.
calls = mock.api("GET", f"/calls?objectId={intent.id}")
assert calls["total"] >= 2 and calls["calls"][-1]["operation"] == "POST /v1/payment_intents", calls
assert mock.api("GET", "/objects?kind=refunds")[0]["id"] == refund.id
print("ok")
