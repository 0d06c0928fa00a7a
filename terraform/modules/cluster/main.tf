data "aws_iam_policy_document" "assume" {
  for_each = { cluster = "eks.amazonaws.com", node = "ec2.amazonaws.com" }

  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = [each.value]
    }
  }
}

resource "aws_iam_role" "cluster" {
  name_prefix        = "${var.name}-eks-"
  assume_role_policy = data.aws_iam_policy_document.assume["cluster"].json
  tags               = var.tags
}

resource "aws_iam_role_policy_attachment" "cluster" {
  role       = aws_iam_role.cluster.name
  policy_arn = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
}

resource "aws_iam_role" "node" {
  name_prefix        = "${var.name}-node-"
  assume_role_policy = data.aws_iam_policy_document.assume["node"].json
  tags               = var.tags
}

resource "aws_iam_role_policy_attachment" "node" {
  for_each   = toset(["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly"])
  role       = aws_iam_role.node.name
  policy_arn = "arn:aws:iam::aws:policy/${each.key}"
}

resource "aws_eks_cluster" "this" {
  name                      = var.name
  role_arn                  = aws_iam_role.cluster.arn
  version                   = var.kubernetes_version
  enabled_cluster_log_types = ["api", "audit", "authenticator"]
  tags                      = var.tags
  depends_on                = [aws_iam_role_policy_attachment.cluster]

  vpc_config {
    subnet_ids              = var.subnet_ids
    endpoint_private_access = true
    endpoint_public_access  = var.endpoint_public
    public_access_cidrs     = var.endpoint_public ? var.endpoint_public_cidrs : null
  }

  access_config {
    authentication_mode                         = "API"
    bootstrap_cluster_creator_admin_permissions = true
  }

  dynamic "encryption_config" {
    for_each = var.kms_key_arn[*]

    content {
      resources = ["secrets"]

      provider {
        key_arn = encryption_config.value
      }
    }
  }

  lifecycle {
    precondition {
      condition     = !var.endpoint_public || length(var.endpoint_public_cidrs) > 0
      error_message = "endpoint_public needs endpoint_public_cidrs: who may reach the API server."
    }
  }
}

# The pod network, with the policies that the chart can make, the agent of pod roles, and volumes.
resource "aws_eks_addon" "this" {
  for_each = {
    "vpc-cni"                = jsonencode({ enableNetworkPolicy = "true" })
    "kube-proxy"             = null
    "coredns"                = null
    "eks-pod-identity-agent" = null
    "aws-ebs-csi-driver"     = null
  }
  cluster_name         = aws_eks_cluster.this.name
  addon_name           = each.key
  configuration_values = each.value
  tags                 = var.tags
  depends_on           = [aws_eks_node_group.general]

  dynamic "pod_identity_association" {
    for_each = each.key == "aws-ebs-csi-driver" ? [aws_iam_role.volumes.arn] : []

    content {
      role_arn        = pod_identity_association.value
      service_account = "ebs-csi-controller-sa"
    }
  }
}

data "aws_iam_policy_document" "pods" {
  statement {
    actions = ["sts:AssumeRole", "sts:TagSession"]

    principals {
      type        = "Service"
      identifiers = ["pods.eks.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "volumes" {
  name_prefix        = "${var.name}-volumes-"
  assume_role_policy = data.aws_iam_policy_document.pods.json
  tags               = var.tags
}

resource "aws_iam_role_policy_attachment" "volumes" {
  role       = aws_iam_role.volumes.name
  policy_arn = "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"
}

resource "aws_launch_template" "general" {
  name_prefix = "${var.name}-general-"
  tags        = var.tags

  metadata_options {
    http_tokens = "required"
    # Pods have roles of their own, and none may take the machine's.
    http_put_response_hop_limit = 1
  }

  block_device_mappings {
    device_name = "/dev/xvda"

    ebs {
      encrypted   = "true"
      volume_type = "gp3"
      volume_size = 50
    }
  }
}

resource "aws_eks_node_group" "general" {
  cluster_name    = aws_eks_cluster.this.name
  node_group_name = "general"
  node_role_arn   = aws_iam_role.node.arn
  subnet_ids      = var.subnet_ids
  instance_types  = var.node_types
  tags            = var.tags
  depends_on      = [aws_iam_role_policy_attachment.node]

  launch_template {
    id      = aws_launch_template.general.id
    version = aws_launch_template.general.latest_version
  }

  scaling_config {
    min_size     = var.sizes.min
    desired_size = var.sizes.desired
    max_size     = var.sizes.max
  }

  update_config {
    max_unavailable = 1
  }

  lifecycle {
    # A cluster autoscaler changes it.
    ignore_changes = [scaling_config[0].desired_size]
  }
}
