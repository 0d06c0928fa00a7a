locals {
  host = var.cluster_mode ? aws_elasticache_replication_group.this.configuration_endpoint_address : aws_elasticache_replication_group.this.primary_endpoint_address
}

output "redis_url" {
  value       = "rediss://:${random_password.auth.result}@${local.host}:6379${var.cluster_mode ? "?cluster=true" : ""}"
  sensitive   = true
  description = "TRAPLINE_REDIS."
}
