resource "random_password" "auth" {
  length  = 48
  special = false
}

resource "aws_security_group" "this" {
  name_prefix = "${var.name}-redis-"
  description = "Redis of Trapline"
  vpc_id      = var.vpc_id
  tags        = merge(var.tags, { Name = "${var.name}-redis" })

  ingress {
    description = "Pods"
    from_port   = 6379
    to_port     = 6379
    protocol    = "tcp"
    cidr_blocks = var.client_cidrs
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_elasticache_subnet_group" "this" {
  name       = "${var.name}-redis"
  subnet_ids = var.subnet_ids
  tags       = var.tags
}

resource "aws_elasticache_replication_group" "this" {
  replication_group_id       = "${var.name}-redis"
  description                = "Announcements, limits and counts of Trapline"
  engine                     = "redis"
  engine_version             = "7.1"
  node_type                  = var.node_type
  port                       = 6379
  num_node_groups            = var.cluster_mode ? var.shards : 1
  replicas_per_node_group    = var.replicas
  cluster_mode               = var.cluster_mode ? "enabled" : "disabled"
  parameter_group_name       = var.cluster_mode ? "default.redis7.cluster.on" : "default.redis7"
  automatic_failover_enabled = true
  multi_az_enabled           = true
  subnet_group_name          = aws_elasticache_subnet_group.this.name
  security_group_ids         = [aws_security_group.this.id]
  transit_encryption_enabled = true
  at_rest_encryption_enabled = true
  auth_token                 = random_password.auth.result
  auth_token_update_strategy = "ROTATE"
  # Nothing in it has to survive: a backup would only cost.
  snapshot_retention_limit = 0
  tags                     = var.tags
}
