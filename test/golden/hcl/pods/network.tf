# Written by `talosmith synth pods --hcl` from environments/pods.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

resource "kubernetes_namespace_v1" "namespace" {
  metadata {
    name   = "talos-tenant"
    labels = { "pod-security.kubernetes.io/enforce" = "privileged" }
  }
}

# An address for life for each machine, and one for the API.
resource "kubernetes_service_v1" "control_plane_service" {
  for_each = local.control_plane

  metadata {
    name      = "tenant-${each.key}"
    namespace = kubernetes_namespace_v1.namespace.metadata[0].name
  }

  spec {
    publish_not_ready_addresses = true
    type                        = "LoadBalancer"
    selector = {
      "app.kubernetes.io/name" = "talos"
      "talosmith/cluster"      = "tenant"
      "talosmith/machine"      = "tenant-${each.key}"
      "talosmith/role"         = "controlplane"
    }

    port {
      name        = "talos"
      port        = 50000
      target_port = "50000"
    }

    port {
      name        = "trustd"
      port        = 50001
      target_port = "50001"
    }

    port {
      name        = "kubernetes"
      port        = 6443
      target_port = "6443"
    }
  }
}

resource "kubernetes_service_v1" "endpoint" {
  metadata {
    name      = "tenant-endpoint"
    namespace = kubernetes_namespace_v1.namespace.metadata[0].name
  }

  spec {
    publish_not_ready_addresses = false
    type                        = "LoadBalancer"
    selector = {
      "app.kubernetes.io/name" = "talos"
      "talosmith/cluster"      = "tenant"
      "talosmith/role"         = "controlplane"
    }

    port {
      name        = "kubernetes"
      port        = 6443
      target_port = "6443"
    }

    port {
      name        = "talos"
      port        = 50000
      target_port = "50000"
    }
  }
}

resource "kubernetes_service_v1" "general_service" {
  for_each = local.general

  metadata {
    name      = "tenant-${each.key}"
    namespace = kubernetes_namespace_v1.namespace.metadata[0].name
  }

  spec {
    publish_not_ready_addresses = true
    type                        = "LoadBalancer"
    selector = {
      "app.kubernetes.io/name" = "talos"
      "talosmith/cluster"      = "tenant"
      "talosmith/machine"      = "tenant-${each.key}"
      "talosmith/role"         = "worker"
    }

    port {
      name        = "talos"
      port        = 50000
      target_port = "50000"
    }
  }
}
