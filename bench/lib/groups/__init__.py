"""One module for each group of rows that share their set-up."""

from . import (
    api,
    grown,
    idle,
    inboxes,
    kept,
    lists,
    live,
    memory,
    relay,
    smtp,
    waits,
    webhooks,
)

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
    "lists": lists.measure,
    "kept": kept.measure,
    "grown": grown.measure,
    "relay": relay.measure,
    "webhooks": webhooks.measure,
}
