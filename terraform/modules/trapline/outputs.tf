output "base_url" {
  value       = "https://${local.api_host}"
  description = "The console and the API."
}

output "smtp_host" {
  value       = local.smtp_host
  description = "SMTP, at the ports 25, 587 and 465."
}

output "secret_arn" {
  value       = aws_secretsmanager_secret.this.arn
  description = "What a restore needs."
}
