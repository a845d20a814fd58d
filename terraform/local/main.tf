# Written by `talosmith synth local --hcl` from environments/local.yaml; change that file, not this one.

# Machines of the simulator on this computer.
resource "talosmith_simulated_machine" "control_plane" {
  for_each      = local.control_plane
  name          = "local-${each.key}"
  cluster       = "local"
  talos_version = "v1.13.9"

  lifecycle {
    ignore_changes = [talos_version]
  }
}

resource "talosmith_simulated_machine" "worker" {
  for_each      = local.worker
  name          = "local-${each.key}"
  cluster       = "local"
  talos_version = "v1.13.9"

  lifecycle {
    ignore_changes = [talos_version]
  }
}
