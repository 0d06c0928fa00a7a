variable "url" {
  type        = string
  default     = null
  sensitive   = true
  description = "NATS 2.12 or newer with JetStream that exists already; nothing is made then."
}

variable "namespace" {
  type        = string
  default     = "nats"
  description = "The namespace, which is made."
}

variable "chart_version" {
  type        = string
  default     = "2.12.1"
  description = "The version of the upstream chart, https://nats-io.github.io/k8s/helm/charts."
}

variable "storage" {
  type        = string
  default     = "20Gi"
  description = "The volume of each of three servers."

  validation {
    condition     = can(regex("^[0-9]+(Gi|Ti)$", var.storage))
    error_message = "storage is a size such as 20Gi."
  }
}

variable "storage_class" {
  type        = string
  default     = null
  description = "The class of the volumes; the cluster's default when left out."
}
