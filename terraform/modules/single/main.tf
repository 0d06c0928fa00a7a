locals {
  ports = { http = 8025, smtp = 1025, smtps = 1465 }
  settings = merge({
    TRAPLINE_HTTP  = "0.0.0.0:8025"
    TRAPLINE_SMTP  = "0.0.0.0:1025"
    TRAPLINE_SMTPS = "0.0.0.0:1465"
  }, var.settings)
}

data "aws_subnet" "this" {
  id = var.subnet_id
}

resource "aws_security_group" "this" {
  name_prefix = "${var.name}-"
  description = "Trapline"
  vpc_id      = var.vpc_id
  tags        = merge(var.tags, { Name = var.name })

  dynamic "ingress" {
    for_each = local.ports

    content {
      description = ingress.key
      from_port   = ingress.value
      to_port     = ingress.value
      protocol    = "tcp"
      cidr_blocks = var.allowed_cidrs
    }
  }

  egress {
    description = "Webhooks, the relay and packages"
    from_port   = 0
    to_port     = 0
    protocol    = "-1"
    cidr_blocks = ["0.0.0.0/0"]
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_ebs_volume" "data" {
  availability_zone = data.aws_subnet.this.availability_zone
  size              = var.volume_size
  type              = "gp3"
  encrypted         = true
  kms_key_id        = var.kms_key_arn
  tags              = merge(var.tags, { Name = "${var.name}-data" })

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_volume_attachment" "data" {
  device_name = "/dev/sdf"
  volume_id   = aws_ebs_volume.data.id
  instance_id = aws_instance.this.id
  # Two servers cannot run over one folder.
  stop_instance_before_detaching = true
}

data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

# A shell without a port: AWS Systems Manager.
resource "aws_iam_role" "this" {
  name_prefix        = "${var.name}-"
  assume_role_policy = data.aws_iam_policy_document.assume.json
  tags               = var.tags
}

resource "aws_iam_role_policy_attachment" "shell" {
  role       = aws_iam_role.this.name
  policy_arn = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
}

resource "aws_iam_instance_profile" "this" {
  name_prefix = "${var.name}-"
  role        = aws_iam_role.this.name
  tags        = var.tags
}

resource "aws_instance" "this" {
  ami                         = var.ami_id
  instance_type               = var.instance_type
  subnet_id                   = var.subnet_id
  vpc_security_group_ids      = [aws_security_group.this.id]
  iam_instance_profile        = aws_iam_instance_profile.this.name
  ebs_optimized               = true
  monitoring                  = true
  user_data_replace_on_change = true
  tags                        = merge(var.tags, { Name = var.name })

  user_data = templatefile("${path.module}/install.sh", {
    url         = var.release.url
    sha256      = var.release.sha256
    volume      = replace(aws_ebs_volume.data.id, "-", "")
    environment = join("\n", [for name, value in local.settings : "${name}=${value}"])
  })

  metadata_options {
    http_endpoint = "enabled"
    http_tokens   = "required"
  }

  root_block_device {
    encrypted   = true
    volume_type = "gp3"
    volume_size = 10
  }
}
