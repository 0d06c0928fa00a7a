variable "name" {
  type        = string
  description = "The cluster's name."
}

variable "subnet_ids" {
  type        = list(string)
  description = "Private subnets in two zones or more."

  validation {
    condition     = length(var.subnet_ids) >= 2
    error_message = "subnet_ids are two or more."
  }
}

variable "kubernetes_version" {
  type        = string
  default     = "1.33"
  description = "The version of EKS: 1.25 or newer."

  validation {
    condition     = can(regex("^1\\.(2[5-9]|[3-9][0-9])$", var.kubernetes_version))
    error_message = "kubernetes_version is 1.25 or newer, without a patch."
  }
}

variable "node_types" {
  type        = list(string)
  default     = ["m7i.large"]
  description = "The machines of the group `general`."
}

variable "sizes" {
  type        = object({ min = number, desired = number, max = number })
  default     = { min = 3, desired = 3, max = 9 }
  description = "How many machines."

  validation {
    condition     = var.sizes.min >= 1 && var.sizes.min <= var.sizes.desired && var.sizes.desired <= var.sizes.max
    error_message = "sizes: min <= desired <= max."
  }
}

variable "endpoint_public" {
  type        = bool
  default     = false
  description = "Whether the API server is reached from outside of the VPC."
}

variable "endpoint_public_cidrs" {
  type        = list(string)
  default     = []
  description = "From where, with endpoint_public."
}

variable "kms_key_arn" {
  type        = string
  default     = null
  description = "The KMS key that seals Secrets; EKS's own when left out."
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of everything that is made."
}
