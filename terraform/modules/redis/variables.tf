variable "name" {
  type        = string
  description = "The name of everything that is made."
}

variable "vpc_id" {
  type        = string
  description = "The VPC."
}

variable "subnet_ids" {
  type        = list(string)
  description = "Private subnets in two zones or more."

  validation {
    condition     = length(var.subnet_ids) >= 2
    error_message = "subnet_ids are two or more."
  }
}

variable "client_cidrs" {
  type        = list(string)
  description = "From where pods reach it."
}

variable "node_type" {
  type        = string
  default     = "cache.t4g.small"
  description = "The machines."
}

variable "replicas" {
  type        = number
  default     = 1
  description = "Copies of each primary, in other zones."

  validation {
    condition     = var.replicas >= 1 && var.replicas <= 5
    error_message = "replicas is 1 to 5: without one a lost machine makes waits late."
  }
}

variable "cluster_mode" {
  type        = bool
  default     = false
  description = "Whether keys are spread over shards (Redis Cluster)."
}

variable "shards" {
  type        = number
  default     = 3
  description = "How many, with cluster_mode."
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of everything that is made."
}
