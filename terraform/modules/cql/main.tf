locals {
  is_made = length(var.hosts) == 0
  nodes   = local.is_made ? { for index in range(var.nodes) : tostring(index) => var.subnet_ids[index % 3] } : {}
  hosts   = local.is_made ? [for node in aws_instance.this : node.private_ip] : var.hosts
  # The snitch of EC2 calls the region the data centre.
  datacenter = local.is_made ? data.aws_region.here.region : var.datacenter
  seeds      = [for index in range(min(3, length(local.nodes))) : aws_network_interface.this[tostring(index)].private_ip]
}

data "aws_region" "here" {}

resource "aws_security_group" "this" {
  count       = local.is_made ? 1 : 0
  name_prefix = "${var.name}-cql-"
  description = "CQL nodes of Trapline"
  vpc_id      = var.vpc_id
  tags        = merge(var.tags, { Name = "${var.name}-cql" })

  ingress {
    description = "Pods"
    from_port   = 9042
    to_port     = 9042
    protocol    = "tcp"
    cidr_blocks = var.client_cidrs
  }

  ingress {
    description = "Each other"
    from_port   = 0
    to_port     = 65535
    protocol    = "tcp"
    self        = true
  }

  egress {
    description = "Each other, and packages"
    from_port   = 0
    to_port     = 0
    protocol    = "-1"
    cidr_blocks = ["0.0.0.0/0"]
  }

  lifecycle {
    create_before_destroy = true

    precondition {
      condition     = var.ami_id != null && var.vpc_id != null && length(var.subnet_ids) == 3
      error_message = "Without hosts, name ami_id, vpc_id and three subnet_ids."
    }
  }
}

# The addresses of the seeds are known before the machines are, and stay theirs.
resource "aws_network_interface" "this" {
  for_each        = local.nodes
  subnet_id       = each.value
  security_groups = [aws_security_group.this[0].id]
  description     = "${var.name}-cql-${each.key}"
  tags            = merge(var.tags, { Name = "${var.name}-cql-${each.key}" })
}

resource "aws_instance" "this" {
  for_each      = local.nodes
  ami           = var.ami_id
  instance_type = var.instance_type
  ebs_optimized = true
  monitoring    = true
  tags          = merge(var.tags, { Name = "${var.name}-cql-${each.key}" })

  # What ScyllaDB's image reads at its first start.
  user_data = jsonencode({
    scylla_yaml = {
      cluster_name                   = var.name
      endpoint_snitch                = "org.apache.cassandra.locator.Ec2Snitch"
      authenticator                  = "PasswordAuthenticator"
      authorizer                     = "CassandraAuthorizer"
      auth_superuser_name            = "trapline"
      auth_superuser_salted_password = random_password.superuser[0].bcrypt_hash
      seed_provider = [{
        class_name = "org.apache.cassandra.locator.SimpleSeedProvider"
        parameters = [{ seeds = join(",", local.seeds) }]
      }]
    }
    start_scylla_on_first_boot = true
  })

  primary_network_interface {
    network_interface_id = aws_network_interface.this[each.key].id
  }

  metadata_options {
    http_endpoint = "enabled"
    http_tokens   = "required"
  }

  root_block_device {
    encrypted   = true
    volume_type = "gp3"
    volume_size = 50
  }

  lifecycle {
    # Another image would replace all nodes at once, and the data on their disks.
    ignore_changes = [ami, user_data]
  }
}

resource "random_password" "superuser" {
  count   = local.is_made ? 1 : 0
  length  = 48
  special = false
}
