variable "region" {
  type        = string
  default     = "eu-west-1"
  description = "Where everything is."
}

variable "vpc_id" {
  type        = string
  description = "The VPC."
}

variable "subnet_id" {
  type        = string
  description = "A private subnet of it."
}

variable "ami_id" {
  type        = string
  description = "A Debian 12 or newer."
}

variable "release" {
  type        = object({ url = string, sha256 = string })
  description = "The release archive, and its sum."
}

variable "allowed_cidrs" {
  type        = list(string)
  description = "From where the API and SMTP are reached."
}
