locals {
  user     = local.is_made ? "trapline" : var.username
  password = local.is_made ? random_password.superuser[0].result : var.password
  login    = local.user == null ? "" : "${urlencode(local.user)}:${urlencode(coalesce(local.password, ""))}@"
  options = compact([
    local.datacenter == null ? "" : "dc=${local.datacenter}",
    var.tls ? "tls=true" : "",
  ])
}

output "cql_url" {
  value       = "cql://${local.login}${join(",", [for host in local.hosts : length(regexall(":", host)) > 0 ? host : "${host}:9042"])}${length(local.options) > 0 ? "?" : ""}${join("&", local.options)}"
  sensitive   = true
  description = "TRAPLINE_CQL."
}
