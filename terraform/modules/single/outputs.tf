output "address" {
  value       = aws_instance.this.private_ip
  description = "The machine: the API at 8025, SMTP at 1025 and 1465."
}

output "instance_id" {
  value       = aws_instance.this.id
  description = "For `aws ssm start-session --target`."
}
