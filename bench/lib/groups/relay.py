"""What forwarding does to the receiving of mail: with a relay that works, that is silent, and none.

Every inbox forwards all its mail to one address, at most 20 messages a minute each, so that a run
always leaves forwards waiting. Each run has a new server with an empty store.
"""

from ..blast import blast, recipients
from ..plan import Plan
from ..relay import Relay
from ..rest import Failed
from ..rows import Results
from ..servers import Inbox, Trapline

INBOXES = 64
ADDRESS = "ada@forwarded.example"
KINDS = ("none", "working", "silent")


class Forwarding(Trapline):
    """With a relay."""

    def __init__(self, relay: Relay) -> None:
        super().__init__()
        self.relay = relay

    def command(self) -> list[str]:
        return [*super().command(), *self.relay.flags()]

    def forwarding_inboxes(self) -> list[Inbox]:
        http, inboxes = self.http(), self.inboxes(INBOXES)
        http.json("POST", "/api/forward-addresses", {"email": ADDRESS})
        confirmed = http.exchange(http.bytes_of("POST", self.relay.link(ADDRESS)))
        if confirmed.status != 200:
            raise Failed(f"confirmation: {confirmed.status}")
        for inbox in inboxes:
            rule = {"enabled": True, "to": [ADDRESS]}
            http.json("PUT", f"/api/inboxes/{inbox.id}/forwarding", rule)
        http.close()
        return inboxes


def measure(plan: Plan, results: Results) -> None:
    if "trapline" not in plan.systems:
        return
    for kind in plan.rounds_of(KINDS):
        with Relay() as relay, Forwarding(relay) as server:
            inboxes = server.inboxes(INBOXES) if kind == "none" else server.forwarding_inboxes()
            letters = len(relay.mails)
            relay.is_silent = kind == "silent"
            options = ["--connections", 16, "--duration", plan.pick(8, 2)]
            report = blast(server, *recipients(server, inboxes), *options)
            results.add(f"relay-{kind}", "trapline", report["acceptedPerSecond"])
            forwarded = len(relay.mails) - letters
            results.note("relay", "trapline", kind=kind, forwarded=forwarded, report=report)
    working = results.median("relay-working", "trapline")
    results.add("relay-ratio", "trapline", results.median("relay-silent", "trapline") / working)
