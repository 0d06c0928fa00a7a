locals {
  api_host  = "api.${var.mail_domain}"
  smtp_host = "smtp.${var.mail_domain}"
  account   = "trapline"
  secrets = {
    "secret-key"    = random_bytes.secret_key.base64
    "metrics-token" = random_password.metrics_token.result
    cql             = var.cql_url
    blobs           = var.blobs_url
    nats            = var.nats_url
    redis           = var.redis_url
  }
  load_balancer = {
    "service.beta.kubernetes.io/aws-load-balancer-type"            = "external"
    "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type" = "ip"
    "service.beta.kubernetes.io/aws-load-balancer-scheme"          = "internet-facing"
  }
}

# What is sealed with it is lost without it: it is never made anew.
resource "random_bytes" "secret_key" {
  length = 32

  lifecycle {
    prevent_destroy = true
  }
}

resource "random_password" "metrics_token" {
  length  = var.metrics_token_length
  special = false
}

resource "aws_secretsmanager_secret" "this" {
  name_prefix = "${var.name}-"
  description = "Secrets of Trapline, for a restore"
  tags        = var.tags
}

resource "aws_secretsmanager_secret_version" "this" {
  secret_id     = aws_secretsmanager_secret.this.id
  secret_string = jsonencode(local.secrets)
}

resource "kubernetes_namespace_v1" "this" {
  metadata {
    name   = var.namespace
    labels = { "pod-security.kubernetes.io/enforce" = "restricted" }
  }
}

resource "kubernetes_secret_v1" "this" {
  metadata {
    name      = var.name
    namespace = kubernetes_namespace_v1.this.metadata[0].name
  }

  data = local.secrets
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

resource "aws_iam_role" "pods" {
  name_prefix        = "${var.name}-pods-"
  assume_role_policy = data.aws_iam_policy_document.pods.json
  tags               = var.tags
}

resource "aws_iam_role_policy_attachment" "pods" {
  role       = aws_iam_role.pods.name
  policy_arn = var.blobs_policy_arn
}

# The Job that prepares the services has an account of its own.
resource "aws_eks_pod_identity_association" "pods" {
  for_each        = toset([local.account, "${local.account}-migrate"])
  cluster_name    = var.cluster_name
  namespace       = var.namespace
  service_account = each.key
  role_arn        = aws_iam_role.pods.arn
  tags            = var.tags
}

resource "helm_release" "this" {
  name       = var.name
  namespace  = kubernetes_namespace_v1.this.metadata[0].name
  chart      = var.chart
  atomic     = true
  timeout    = 900
  depends_on = [aws_eks_pod_identity_association.pods, kubernetes_secret_v1.this]

  values = concat([yamlencode({
    mode             = "cluster"
    fullnameOverride = local.account
    image            = var.image
    secrets          = { existingSecret = var.name }
    settings = {
      "base-url"    = "https://${local.api_host}"
      "mail-domain" = var.mail_domain
      "smtp-host"   = local.smtp_host
      "log-format"  = "json"
    }
    ingress = {
      enabled   = true
      className = "alb"
      hosts     = [local.api_host]
      tls       = [{ hosts = [local.api_host] }]
      annotations = {
        "alb.ingress.kubernetes.io/scheme"                   = "internet-facing"
        "alb.ingress.kubernetes.io/target-type"              = "ip"
        "alb.ingress.kubernetes.io/certificate-arn"          = var.certificate_arn
        "alb.ingress.kubernetes.io/ssl-redirect"             = "443"
        "alb.ingress.kubernetes.io/healthcheck-path"         = "/readyz"
        "alb.ingress.kubernetes.io/load-balancer-attributes" = "idle_timeout.timeout_seconds=150"
      }
    }
    smtp = { service = { annotations = local.load_balancer, loadBalancerClass = "service.k8s.aws/nlb" } }
  })], var.values)
}

data "kubernetes_service_v1" "smtp" {
  metadata {
    name      = "${local.account}-smtp"
    namespace = var.namespace
  }

  depends_on = [helm_release.this]
}

data "kubernetes_ingress_v1" "api" {
  metadata {
    name      = "${local.account}-api"
    namespace = var.namespace
  }

  depends_on = [helm_release.this]
}

resource "aws_route53_record" "host" {
  for_each = {
    (local.api_host)  = data.kubernetes_ingress_v1.api.status[0].load_balancer[0].ingress[0].hostname
    (local.smtp_host) = data.kubernetes_service_v1.smtp.status[0].load_balancer[0].ingress[0].hostname
  }
  zone_id = var.zone_id
  name    = each.key
  type    = "CNAME"
  ttl     = 60
  records = [each.value]
}

resource "aws_route53_record" "mx" {
  zone_id = var.zone_id
  name    = var.mail_domain
  type    = "MX"
  ttl     = 300
  records = ["10 ${local.smtp_host}"]
}
