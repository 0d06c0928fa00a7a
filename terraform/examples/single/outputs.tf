output "address" {
  value       = module.trapline.address
  description = "The machine."
}
