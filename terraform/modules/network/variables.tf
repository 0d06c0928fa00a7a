variable "name" {
  type        = string
  description = "The name of everything that is made."
}

variable "cidr" {
  type        = string
  default     = "10.40.0.0/16"
  description = "The addresses of the VPC: a /20 or larger, of which each subnet is a sixteenth."

  validation {
    condition     = can(cidrnetmask(var.cidr)) && tonumber(split("/", var.cidr)[1]) <= 20
    error_message = "cidr is a range of IPv4 addresses, a /20 or larger."
  }
}

variable "zones" {
  type        = list(string)
  description = "Three availability zones, such as [\"eu-west-1a\", \"eu-west-1b\", \"eu-west-1c\"]."

  validation {
    condition     = length(distinct(var.zones)) == 3
    error_message = "zones are three different ones."
  }
}

variable "single_nat" {
  type        = bool
  default     = false
  description = "One NAT gateway instead of one in each zone: cheaper, and webhooks stop with its zone."
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of everything that is made."
}
