output "nats_url" {
  value       = local.is_made ? "nats://nats.${var.namespace}.svc:4222?replicas=3" : var.url
  sensitive   = true
  description = "TRAPLINE_NATS."

  # Who has the address may use it at once.
  depends_on = [helm_release.this]
}

output "monitoring_endpoint" {
  value       = local.is_made ? "nats-headless.${var.namespace}.svc:8222" : ""
  description = "Where KEDA asks how many jobs wait; empty for servers that exist already."
}
