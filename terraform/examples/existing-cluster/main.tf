# A bucket and Trapline, over a cluster and services that are there.

data "aws_eks_cluster" "this" {
  name = var.cluster_name
}

module "storage" {
  source = "../../modules/storage"
  name   = var.bucket
}

module "cql" {
  source     = "../../modules/cql"
  name       = "trapline"
  hosts      = var.cql.hosts
  username   = var.cql.username
  password   = var.cql_password
  datacenter = var.cql.datacenter
  tls        = var.cql.tls
}

module "nats" {
  source = "../../modules/nats"
  url    = var.nats_url
}

module "trapline" {
  source           = "../../modules/trapline"
  cluster_name     = var.cluster_name
  chart            = "${path.module}/../../../helm/trapline"
  image            = var.image
  cql_url          = module.cql.cql_url
  blobs_url        = module.storage.blobs_url
  blobs_policy_arn = module.storage.policy_arn
  nats_url         = module.nats.nats_url
  redis_url        = var.redis_url
  mail_domain      = var.mail_domain
  zone_id          = var.zone_id
  certificate_arn  = var.certificate_arn
}
