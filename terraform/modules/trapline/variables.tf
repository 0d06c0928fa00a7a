variable "name" {
  type        = string
  default     = "trapline"
  description = "The name of the release and of the Secret."
}

variable "namespace" {
  type        = string
  default     = "trapline"
  description = "The namespace, which is made."
}

variable "cluster_name" {
  type        = string
  description = "The EKS cluster, whose pods get a role for the bucket."
}

variable "chart" {
  type        = string
  description = "The chart: a folder, such as helm/trapline of this repository, or an archive of a release."
}

variable "values" {
  type        = list(string)
  default     = []
  description = "YAML with values of the chart; the last one wins."
}

variable "image" {
  type        = object({ repository = string, tag = optional(string, ""), digest = optional(string, "") })
  description = "Where the image of a release was put."
}

variable "cql_url" {
  type        = string
  sensitive   = true
  description = "TRAPLINE_CQL, of the module cql."
}

variable "blobs_url" {
  type        = string
  description = "TRAPLINE_BLOBS, of the module storage."
}

variable "blobs_policy_arn" {
  type        = string
  description = "The policy for the bucket, of the module storage."
}

variable "nats_url" {
  type        = string
  sensitive   = true
  description = "TRAPLINE_NATS, of the module nats."
}

variable "redis_url" {
  type        = string
  sensitive   = true
  description = "TRAPLINE_REDIS, of the module redis."
}

variable "mail_domain" {
  type        = string
  description = "The domain of inbox addresses; the API is at api. in it, and SMTP at smtp. in it."

  validation {
    condition     = can(regex("^([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.)+[a-z]{2,}$", var.mail_domain))
    error_message = "mail_domain is a name such as mail.example.com."
  }
}

variable "zone_id" {
  type        = string
  description = "The Route 53 zone of mail_domain."
}

variable "certificate_arn" {
  type        = string
  description = "The ACM certificate of the API's name."
}

variable "metrics_token_length" {
  type        = number
  default     = 40
  description = "Characters of the token that reads metrics."

  validation {
    condition     = var.metrics_token_length >= 16
    error_message = "metrics_token_length is 16 or more."
  }
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of everything that is made."
}
