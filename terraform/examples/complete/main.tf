# All of it: a network, a cluster, the four services, and Trapline.

data "aws_availability_zones" "here" {
  state = "available"
}

module "network" {
  source = "../../modules/network"
  name   = var.name
  zones  = slice(data.aws_availability_zones.here.names, 0, 3)
}

module "cluster" {
  source                = "../../modules/cluster"
  name                  = var.name
  subnet_ids            = module.network.private_subnet_ids
  endpoint_public       = true
  endpoint_public_cidrs = var.administrators
}

module "storage" {
  source = "../../modules/storage"
  name   = var.bucket
}

module "redis" {
  source       = "../../modules/redis"
  name         = var.name
  vpc_id       = module.network.vpc_id
  subnet_ids   = module.network.private_subnet_ids
  client_cidrs = [module.network.cidr]
}

module "cql" {
  source       = "../../modules/cql"
  name         = var.name
  vpc_id       = module.network.vpc_id
  subnet_ids   = module.network.private_subnet_ids
  client_cidrs = [module.network.cidr]
  ami_id       = var.scylla_ami_id
}

module "nats" {
  source     = "../../modules/nats"
  depends_on = [module.cluster]
}

module "trapline" {
  source           = "../../modules/trapline"
  cluster_name     = module.cluster.cluster_name
  chart            = "${path.module}/../../../helm/trapline"
  values           = [file("${path.module}/values.yaml")]
  image            = var.image
  cql_url          = module.cql.cql_url
  blobs_url        = module.storage.blobs_url
  blobs_policy_arn = module.storage.policy_arn
  nats_url         = module.nats.nats_url
  redis_url        = module.redis.redis_url
  mail_domain      = var.mail_domain
  zone_id          = var.zone_id
  certificate_arn  = var.certificate_arn
}
