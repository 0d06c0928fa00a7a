variable "name" {
  type        = string
  description = "The bucket's name, which must be free in all of AWS."

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$", var.name))
    error_message = "name is 3 to 63 lower-case letters, digits and hyphens."
  }
}

variable "prefix" {
  type        = string
  default     = "mail"
  description = "What the names of all segments begin with."

  validation {
    condition     = can(regex("^[a-z0-9-]+$", var.prefix))
    error_message = "prefix is lower-case letters, digits and hyphens, without slashes."
  }
}

variable "kms_key_arn" {
  type        = string
  default     = null
  description = "The KMS key of the bucket; S3's own key when left out."
}

variable "versioning" {
  type        = bool
  default     = true
  description = "Whether S3 keeps what was deleted for seven days."
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of everything that is made."
}
