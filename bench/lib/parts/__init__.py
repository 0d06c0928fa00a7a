"""What is measured of a cluster, one module for each part. Each returns what JSON can hold."""

from . import cost, inboxes, latency, parked, throughput, webhooks

MEASURE = {
    "cost": cost.measure,
    "throughput": throughput.measure,
    "parked": parked.measure,
    "latency": latency.measure,
    "webhooks": webhooks.measure,
    "inboxes": inboxes.measure,
}
