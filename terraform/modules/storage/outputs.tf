output "bucket" {
  value       = aws_s3_bucket.this.id
  description = "The bucket."
}

output "blobs_url" {
  value       = "s3://${aws_s3_bucket.this.id}/${var.prefix}?region=${data.aws_region.here.region}"
  description = "TRAPLINE_BLOBS: no secret, where pods have a role with the policy."
}

output "policy_arn" {
  value       = aws_iam_policy.access.arn
  description = "The policy of the role that the pods have."
}
