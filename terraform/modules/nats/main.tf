locals {
  # Whether there is an address is no secret.
  is_made = nonsensitive(var.url == null)
}

resource "helm_release" "this" {
  count            = local.is_made ? 1 : 0
  name             = "nats"
  namespace        = var.namespace
  create_namespace = true
  repository       = "https://nats-io.github.io/k8s/helm/charts"
  chart            = "nats"
  version          = var.chart_version
  atomic           = true
  timeout          = 600

  values = [yamlencode({
    config = {
      cluster = { enabled = true, replicas = 3 }
      jetstream = {
        enabled = true
        fileStore = {
          pvc = merge({ enabled = true, size = var.storage }, var.storage_class == null ? {} : { storageClassName = var.storage_class })
        }
      }
      monitor = { enabled = true }
    }
    podTemplate = {
      topologySpreadConstraints = {
        "topology.kubernetes.io/zone" = { maxSkew = 1, whenUnsatisfiable = "DoNotSchedule" }
      }
    }
    natsBox = { enabled = false }
  })]
}
