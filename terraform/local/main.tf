# Written by `talosmith synth local --hcl` from environments/local.yaml; change that file, not this one.

# Machines of the simulator on this computer.
resource "talosmith_simulated_machine" "cp_1" {
  name          = "local-cp-1"
  cluster       = "local"
  talos_version = "v1.13.9"

  lifecycle {
    ignore_changes = [talos_version]
  }
}

resource "talosmith_simulated_machine" "cp_2" {
  name          = "local-cp-2"
  cluster       = "local"
  talos_version = "v1.13.9"

  lifecycle {
    ignore_changes = [talos_version]
  }
}

resource "talosmith_simulated_machine" "cp_3" {
  name          = "local-cp-3"
  cluster       = "local"
  talos_version = "v1.13.9"

  lifecycle {
    ignore_changes = [talos_version]
  }
}

resource "talosmith_simulated_machine" "w_1" {
  name          = "local-w-1"
  cluster       = "local"
  talos_version = "v1.13.9"

  lifecycle {
    ignore_changes = [talos_version]
  }
}

resource "talosmith_simulated_machine" "w_2" {
  name          = "local-w-2"
  cluster       = "local"
  talos_version = "v1.13.9"

  lifecycle {
    ignore_changes = [talos_version]
  }
}
