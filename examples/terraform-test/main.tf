# The machines and versions of an environment file, on simulated machines.
terraform {
  required_version = ">= 1.8"

  required_providers {
    talosmith = {
      source = "talosmith.internal/talosmith/talosmith"
    }
  }
}

provider "talosmith" {
  secrets_file = "secrets/rehearsal.yaml"
}

variable "environment" {
  description = "The environment file to rehearse, of any kind."
  type        = string
  default     = "environments/terraform-test.yaml"
}

variable "talos_version" {
  description = "Talos to go to. Default: what the file says."
  type        = string
  default     = null
}

variable "kubernetes_version" {
  description = "Kubernetes to go to. Default: what the file says."
  type        = string
  default     = null
}

locals {
  environment   = yamldecode(file("${path.module}/${var.environment}"))
  cluster       = local.environment.cluster
  patches       = try(local.cluster.patches, {})
  control_plane = [for n in range(local.environment.controlPlane.count) : "rehearsal-cp-${n + 1}"]
  workers       = [for n in range(sum([for pool in local.environment.workers : pool.count])) : "rehearsal-w-${n + 1}"]
  patches_of = {
    controlplane = concat(try(local.patches.all, []), try(local.patches.controlPlane, []))
    worker       = concat(try(local.patches.all, []), try(local.patches.worker, []))
  }
}

resource "talosmith_simulated_machine" "machine" {
  for_each = toset(concat(local.control_plane, local.workers))
  name     = each.key
  cluster  = "rehearsal"
}

resource "talosmith_cluster" "rehearsal" {
  name               = "rehearsal"
  endpoint           = "https://${talosmith_simulated_machine.machine[local.control_plane[0]].address}:6443"
  talos_version      = coalesce(var.talos_version, local.cluster.talosVersion)
  kubernetes_version = coalesce(var.kubernetes_version, local.cluster.kubernetesVersion)
  config_contract    = local.cluster.configContract

  machines = {
    for name, machine in talosmith_simulated_machine.machine : name => {
      role        = contains(local.control_plane, name) ? "controlplane" : "worker"
      address     = machine.address
      fingerprint = machine.fingerprint
      patches     = [for patch in local.patches_of[contains(local.control_plane, name) ? "controlplane" : "worker"] : yamlencode(patch)]
    }
  }
}

output "machines" {
  description = "What the cluster is made of."
  value       = { for name, machine in talosmith_cluster.rehearsal.machines : name => machine.role }
}
