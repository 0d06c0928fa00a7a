output "base_url" {
  value       = module.trapline.base_url
  description = "The console and the API."
}

output "smtp_host" {
  value       = module.trapline.smtp_host
  description = "SMTP."
}
