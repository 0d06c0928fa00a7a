"""One module for each group of rows that share their set-up."""

from . import api, idle, inboxes, live, memory, relay, smtp, waits, webhooks

MEASURE = {
    "synced": smtp.synced,
    "process": smtp.process,
    "p99": smtp.p99,
    "api": api.measure,
    "live": live.measure,
    "memory": memory.measure,
    "idle": idle.measure,
    "waits": waits.measure,
    "inboxes": inboxes.measure,
    "relay": relay.measure,
    "webhooks": webhooks.measure,
}
