variable "name" {
  type        = string
  default     = "trapline"
  description = "The name of everything that is made."
}

variable "vpc_id" {
  type        = string
  description = "The VPC."
}

variable "subnet_id" {
  type        = string
  description = "The subnet of the machine; its zone is the volume's."
}

variable "ami_id" {
  type        = string
  description = "A Debian 12 or newer, or another Linux with systemd and glibc 2.36 or newer."
}

variable "instance_type" {
  type        = string
  default     = "t3.small"
  description = "The machine."
}

variable "volume_size" {
  type        = number
  default     = 50
  description = "The data folder's volume, in GiB. It stays when the machine is replaced."

  validation {
    condition     = var.volume_size >= 1
    error_message = "volume_size is 1 or more."
  }
}

variable "allowed_cidrs" {
  type        = list(string)
  description = "From where the API and SMTP are reached: mail is taken without a password."

  validation {
    condition     = length(var.allowed_cidrs) > 0 && !contains(var.allowed_cidrs, "0.0.0.0/0")
    error_message = "allowed_cidrs names networks, and not the whole internet."
  }
}

variable "release" {
  type        = object({ url = string, sha256 = string })
  description = "Where the machine downloads trapline-VERSION-TARGET.tar.gz, and its sum."

  validation {
    condition     = startswith(var.release.url, "https://") && can(regex("^[0-9a-f]{64}$", var.release.sha256))
    error_message = "release: an https:// address, and 64 hexadecimal digits."
  }
}

variable "settings" {
  type        = map(string)
  default     = {}
  description = "Settings by the names of their variables, such as TRAPLINE_MAIL_DOMAIN."
}

variable "kms_key_arn" {
  type        = string
  default     = null
  description = "The KMS key of the volume; EBS's own when left out."
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of everything that is made."
}
