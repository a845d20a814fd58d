# Written by `talosmith synth local --hcl` from environments/local.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Machines of the simulator on this computer.
resource "talosmith_simulated_machine" "control_plane" {
  for_each = local.control_plane

  name          = "local-${each.key}"
  cluster       = "local"
  talos_version = "v1.13.9"

  # The release that a machine starts with; the cluster upgrades it.
  lifecycle {
    ignore_changes = [talos_version]
  }
}

resource "talosmith_simulated_machine" "worker" {
  for_each = local.worker

  name          = "local-${each.key}"
  cluster       = "local"
  talos_version = "v1.13.9"

  # The release that a machine starts with; the cluster upgrades it.
  lifecycle {
    ignore_changes = [talos_version]
  }
}
