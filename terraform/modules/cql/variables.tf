variable "name" {
  type        = string
  description = "The name of everything that is made."
}

variable "hosts" {
  type        = list(string)
  default     = []
  description = "Nodes that exist already (ScyllaDB Cloud, Cassandra); nothing is made then."
}

variable "username" {
  type        = string
  default     = null
  description = "The user at `hosts`."
}

variable "password" {
  type        = string
  default     = null
  sensitive   = true
  description = "The password at `hosts`."
}

variable "datacenter" {
  type        = string
  default     = null
  description = "The data centre that is near, at `hosts`; with machines of our own it is the region."
}

variable "tls" {
  type        = bool
  default     = false
  description = "Whether `hosts` speak TLS."
}

variable "vpc_id" {
  type        = string
  default     = null
  description = "The VPC; needed without `hosts`."
}

variable "subnet_ids" {
  type        = list(string)
  default     = []
  description = "Three private subnets, one in each zone: a zone is a rack. Needed without `hosts`."
}

variable "client_cidrs" {
  type        = list(string)
  default     = []
  description = "From where pods reach the nodes."
}

variable "ami_id" {
  type        = string
  default     = null
  description = "ScyllaDB's image for the region, which you choose and accept the licence of. Needed without `hosts`."
}

variable "instance_type" {
  type        = string
  default     = "i4i.xlarge"
  description = "Machines with local NVMe disks."
}

variable "nodes" {
  type        = number
  default     = 3
  description = "How many: three, or a multiple."

  validation {
    condition     = var.nodes >= 3 && var.nodes % 3 == 0
    error_message = "nodes is 3 or a multiple: each zone has as many."
  }
}

variable "tags" {
  type        = map(string)
  default     = {}
  description = "Tags of everything that is made."
}
