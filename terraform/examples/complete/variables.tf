variable "region" {
  type        = string
  default     = "eu-west-1"
  description = "Where everything is."
}

variable "name" {
  type        = string
  default     = "trapline"
  description = "The name of everything that is made."
}

variable "bucket" {
  type        = string
  description = "The bucket's name, which must be free in all of AWS."
}

variable "scylla_ami_id" {
  type        = string
  description = "ScyllaDB's image for the region."
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

variable "administrators" {
  type        = list(string)
  description = "From where the API server of the cluster is reached, as in [\"198.51.100.0/24\"]."
}
