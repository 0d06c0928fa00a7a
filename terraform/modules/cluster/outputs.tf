output "cluster_name" {
  value       = aws_eks_cluster.this.name
  description = "The cluster, once it has machines."
  depends_on  = [aws_eks_node_group.general, aws_eks_addon.this]
}

output "endpoint" {
  value       = aws_eks_cluster.this.endpoint
  description = "The API server."
}

output "ca" {
  value       = base64decode(aws_eks_cluster.this.certificate_authority[0].data)
  description = "The authority of its certificate, in PEM."
}

output "oidc" {
  value       = aws_eks_cluster.this.identity[0].oidc[0].issuer
  description = "The issuer of the tokens of pods."
}
