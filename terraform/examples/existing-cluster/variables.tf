variable "region" {
  type        = string
  default     = "eu-west-1"
  description = "Where everything is."
}

variable "cluster_name" {
  type        = string
  description = "The EKS cluster, with the pod identity agent and the AWS load balancer controller."
}

variable "bucket" {
  type        = string
  description = "The bucket's name, which must be free in all of AWS."
}

variable "cql" {
  type        = object({ hosts = list(string), username = string, datacenter = string, tls = bool })
  description = "ScyllaDB or Cassandra that exists already."
}

variable "cql_password" {
  type        = string
  sensitive   = true
  description = "The password there."
}

variable "nats_url" {
  type        = string
  sensitive   = true
  description = "NATS that exists already."
}

variable "redis_url" {
  type        = string
  sensitive   = true
  description = "Redis that exists already."
}

variable "image" {
  type        = object({ repository = string, tag = optional(string, ""), digest = optional(string, "") })
  description = "Where the image of a release was put."
}

variable "mail_domain" {
  type        = string
  description = "The domain of inbox addresses."
}

variable "zone_id" {
  type        = string
  description = "The Route 53 zone of mail_domain."
}

variable "certificate_arn" {
  type        = string
  description = "The ACM certificate of api.<mail_domain>."
}
