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

# Plans: a product, its price, and a subscription from its first invoice to its end.
mock.settings(webhooks={"events": ["customer.subscription.created", "customer.subscription.updated", "customer.subscription.deleted", "invoice.paid", "invoice.payment_failed"]})
product = client.v1.products.create(params={"name": "Pro"})
price = client.v1.prices.create(
    params={"product": product.id, "currency": "usd", "unit_amount": 2000, "recurring": {"interval": "month"}, "lookup_key": "pro"}
)
assert client.v1.prices.list(params={"lookup_keys": ["pro"]}).data[0].id == price.id
ada = client.v1.customers.create(
    params={"email": "ada@example.com", "payment_method": "pm_card_visa", "invoice_settings": {"default_payment_method": "pm_card_visa"}}
)
plan = client.v1.subscriptions.create(
    params={"customer": ada.id, "items": [{"price": price.id, "quantity": 2}], "expand": ["latest_invoice.payments"]}
)
assert (plan.status, plan.latest_invoice.status, plan.latest_invoice.amount_paid) == ("active", "paid", 4000), plan
assert plan.latest_invoice.payments.data[0].payment.payment_intent.startswith("pi_")
assert [kind for kind, _, _ in events(2)] == ["customer.subscription.created", "invoice.paid"]
period = plan["items"].data[0]
mock.api("POST", "/trigger", {"event": "invoice.created", "objectId": plan.id})
assert {kind for kind, _, _ in events(2)} == {"customer.subscription.updated", "invoice.paid"}
renewed = client.v1.subscriptions.retrieve(plan.id, params={"expand": ["latest_invoice"]})
assert renewed["items"].data[0].current_period_start == period.current_period_end
assert renewed.latest_invoice.billing_reason == "subscription_cycle"
mock.api("POST", f"/objects/{plan.id}/move", {"to": "past_due"})
assert {kind for kind, _, _ in events(3)} == {"customer.subscription.updated", "invoice.payment_failed"}
late = client.v1.subscriptions.retrieve(plan.id)
assert late.status == "past_due"
declined = {"payment_method": "pm_card_chargeDeclinedExpiredCard"}
assert raises(stripe.CardError, lambda: client.v1.invoices.pay(late.latest_invoice, params=declined)).code == "expired_card"
assert client.v1.invoices.pay(late.latest_invoice).status == "paid"
assert {kind for kind, _, _ in events(3)} == {"customer.subscription.updated", "invoice.paid", "invoice.payment_failed"}
assert len(list(client.v1.invoices.list(params={"subscription": plan.id, "limit": 2}).auto_paging_iter())) == 3
assert client.v1.subscriptions.update(plan.id, params={"cancel_at_period_end": True}).cancel_at_period_end
assert client.v1.subscriptions.cancel(plan.id).status == "canceled"
assert [kind for kind, _, _ in events(2)] == ["customer.subscription.updated", "customer.subscription.deleted"]
raises(stripe.InvalidRequestError, lambda: client.v1.subscriptions.cancel(plan.id))
mock.settings(decline="insufficient_funds")
failing = {"customer": ada.id, "items": [{"price": price.id}]}
assert client.v1.subscriptions.create(params=failing).status == "incomplete"
refused = {**failing, "payment_behavior": "error_if_incomplete"}
assert raises(stripe.CardError, lambda: client.v1.subscriptions.create(params=refused)).error.decline_code == "insufficient_funds"
mock.settings(decline=None, webhooks=None)
client.v1.invoice_items.create(params={"customer": ada.id, "amount": 1500, "currency": "usd", "description": "Work"})
bill = client.v1.invoices.create(params={"customer": ada.id, "pending_invoice_items_behavior": "include"})
assert (bill.status, client.v1.invoices.finalize_invoice(bill.id).total) == ("draft", 1500)
assert client.v1.invoices.pay(bill.id).amount_paid == 1500
assert client.v1.billing_portal.sessions.create(params={"customer": ada.id, "return_url": "https://app.example/"}).url

# What was asked is there to be looked at.
calls = mock.api("GET", f"/calls?objectId={intent.id}")
assert calls["total"] >= 2 and calls["calls"][-1]["operation"] == "POST /v1/payment_intents", calls
assert mock.api("GET", "/objects?kind=refunds")[0]["id"] == refund.id
print("ok")
