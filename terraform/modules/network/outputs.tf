output "vpc_id" {
  value       = aws_vpc.this.id
  description = "The VPC."
}

output "cidr" {
  value       = aws_vpc.this.cidr_block
  description = "Its addresses."
}

output "private_subnet_ids" {
  value       = [for zone in var.zones : aws_subnet.private[zone].id]
  description = "A subnet in each zone, without addresses that the internet reaches."
}

output "public_subnet_ids" {
  value       = [for zone in var.zones : aws_subnet.public[zone].id]
  description = "A subnet in each zone for load balancers."
}
