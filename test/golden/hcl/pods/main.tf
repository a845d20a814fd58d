# Written by `talosmith synth pods --hcl` from environments/pods.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Machines, each a pod with volumes of its own. A newer image reaches them one by one, with -replace.
resource "kubernetes_stateful_set_v1" "control_plane" {
  for_each = local.control_plane

  wait_for_rollout = false

  # A newer image would restart every machine at once, etcd and all.
  lifecycle {
    ignore_changes = [spec[0].template[0].spec[0].container[0].image]
  }

  metadata {
    name      = "tenant-${each.key}"
    namespace = kubernetes_namespace_v1.namespace.metadata[0].name
    labels = {
      "app.kubernetes.io/name" = "talos"
      "talosmith/cluster"      = "tenant"
      "talosmith/machine"      = "tenant-${each.key}"
      "talosmith/role"         = "controlplane"
    }
  }

  spec {
    replicas     = "1"
    service_name = "tenant-${each.key}"

    persistent_volume_claim_retention_policy {
      when_deleted = "Delete"
      when_scaled  = "Retain"
    }

    selector {
      match_labels = {
        "app.kubernetes.io/name" = "talos"
        "talosmith/cluster"      = "tenant"
        "talosmith/machine"      = "tenant-${each.key}"
        "talosmith/role"         = "controlplane"
      }
    }

    template {
      metadata {
        labels = {
          "app.kubernetes.io/name" = "talos"
          "talosmith/cluster"      = "tenant"
          "talosmith/machine"      = "tenant-${each.key}"
          "talosmith/role"         = "controlplane"
        }
      }

      spec {
        automount_service_account_token  = false
        termination_grace_period_seconds = 60

        container {
          name  = "talos"
          image = "ghcr.io/siderolabs/talos:v1.13.9"

          env {
            name  = "PLATFORM"
            value = "container"
          }

          resources {
            limits   = { memory = "4096Mi" }
            requests = { cpu = "1", memory = "2048Mi" }
          }

          security_context {
            privileged                = true
            read_only_root_filesystem = true
          }

          volume_mount {
            name       = "run"
            mount_path = "/run"
          }

          volume_mount {
            name       = "system"
            mount_path = "/system"
          }

          volume_mount {
            name       = "tmp"
            mount_path = "/tmp"
          }

          volume_mount {
            name       = "etc-cni"
            mount_path = "/etc/cni"
          }

          volume_mount {
            name       = "etc-kubernetes"
            mount_path = "/etc/kubernetes"
          }

          volume_mount {
            name       = "usr-libexec-kubernetes"
            mount_path = "/usr/libexec/kubernetes"
          }

          volume_mount {
            name       = "opt"
            mount_path = "/opt"
          }

          volume_mount {
            name       = "state"
            mount_path = "/system/state"
          }

          volume_mount {
            name       = "ephemeral"
            mount_path = "/var"
          }
        }

        volume {
          name = "run"

          empty_dir {
            medium = "Memory"
          }
        }

        volume {
          name = "system"

          empty_dir {
            medium = "Memory"
          }
        }

        volume {
          name = "tmp"

          empty_dir {
            medium = "Memory"
          }
        }

        volume {
          name = "etc-cni"

          empty_dir {}
        }

        volume {
          name = "etc-kubernetes"

          empty_dir {}
        }

        volume {
          name = "usr-libexec-kubernetes"

          empty_dir {}
        }

        volume {
          name = "opt"

          empty_dir {}
        }
      }
    }

    volume_claim_template {
      metadata {
        name = "state"
      }

      spec {
        access_modes       = ["ReadWriteOnce"]
        storage_class_name = "fast"

        resources {
          requests = { storage = "100Mi" }
        }
      }
    }

    volume_claim_template {
      metadata {
        name = "ephemeral"
      }

      spec {
        access_modes       = ["ReadWriteOnce"]
        storage_class_name = "fast"

        resources {
          requests = { storage = "10240Mi" }
        }
      }
    }
  }

  depends_on = [kubernetes_service_v1.control_plane_service]
}

resource "kubernetes_stateful_set_v1" "general" {
  for_each = local.general

  wait_for_rollout = false

  # A newer image would restart every machine at once, etcd and all.
  lifecycle {
    ignore_changes = [spec[0].template[0].spec[0].container[0].image]
  }

  metadata {
    name      = "tenant-${each.key}"
    namespace = kubernetes_namespace_v1.namespace.metadata[0].name
    labels = {
      "app.kubernetes.io/name" = "talos"
      "talosmith/cluster"      = "tenant"
      "talosmith/machine"      = "tenant-${each.key}"
      "talosmith/role"         = "worker"
    }
  }

  spec {
    replicas     = "1"
    service_name = "tenant-${each.key}"

    persistent_volume_claim_retention_policy {
      when_deleted = "Delete"
      when_scaled  = "Retain"
    }

    selector {
      match_labels = {
        "app.kubernetes.io/name" = "talos"
        "talosmith/cluster"      = "tenant"
        "talosmith/machine"      = "tenant-${each.key}"
        "talosmith/role"         = "worker"
      }
    }

    template {
      metadata {
        labels = {
          "app.kubernetes.io/name" = "talos"
          "talosmith/cluster"      = "tenant"
          "talosmith/machine"      = "tenant-${each.key}"
          "talosmith/role"         = "worker"
        }
      }

      spec {
        automount_service_account_token  = false
        termination_grace_period_seconds = 60

        container {
          name  = "talos"
          image = "ghcr.io/siderolabs/talos:v1.13.9"

          env {
            name  = "PLATFORM"
            value = "container"
          }

          resources {
            requests = { cpu = "500m", memory = "1024Mi" }
          }

          security_context {
            privileged                = true
            read_only_root_filesystem = true
          }

          volume_mount {
            name       = "run"
            mount_path = "/run"
          }

          volume_mount {
            name       = "system"
            mount_path = "/system"
          }

          volume_mount {
            name       = "tmp"
            mount_path = "/tmp"
          }

          volume_mount {
            name       = "etc-cni"
            mount_path = "/etc/cni"
          }

          volume_mount {
            name       = "etc-kubernetes"
            mount_path = "/etc/kubernetes"
          }

          volume_mount {
            name       = "usr-libexec-kubernetes"
            mount_path = "/usr/libexec/kubernetes"
          }

          volume_mount {
            name       = "opt"
            mount_path = "/opt"
          }

          volume_mount {
            name       = "state"
            mount_path = "/system/state"
          }

          volume_mount {
            name       = "ephemeral"
            mount_path = "/var"
          }
        }

        volume {
          name = "run"

          empty_dir {
            medium = "Memory"
          }
        }

        volume {
          name = "system"

          empty_dir {
            medium = "Memory"
          }
        }

        volume {
          name = "tmp"

          empty_dir {
            medium = "Memory"
          }
        }

        volume {
          name = "etc-cni"

          empty_dir {}
        }

        volume {
          name = "etc-kubernetes"

          empty_dir {}
        }

        volume {
          name = "usr-libexec-kubernetes"

          empty_dir {}
        }

        volume {
          name = "opt"

          empty_dir {}
        }
      }
    }

    volume_claim_template {
      metadata {
        name = "state"
      }

      spec {
        access_modes       = ["ReadWriteOnce"]
        storage_class_name = "fast"

        resources {
          requests = { storage = "100Mi" }
        }
      }
    }

    volume_claim_template {
      metadata {
        name = "ephemeral"
      }

      spec {
        access_modes       = ["ReadWriteOnce"]
        storage_class_name = "fast"

        resources {
          requests = { storage = "51200Mi" }
        }
      }
    }
  }

  depends_on = [kubernetes_service_v1.general_service]
}
