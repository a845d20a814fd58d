# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.
# Before the first init, `talosmith provider install` puts the talosmith provider where it is found.

terraform {
  required_version = ">= 1.8.0"

  required_providers {
    libvirt   = { source = "dmacvicar/libvirt", version = "~> 0.9.7" }
    talosmith = { source = "talosmith.internal/talosmith/talosmith", version = "0.1.0" }
  }

  backend "local" {
    path = "../../state/lab.tfstate"
  }
}

provider "libvirt" {
  uri = "qemu:///system"
}

provider "talosmith" {
  owner        = "environment lab, backend local:state/lab.tfstate, workspace ${terraform.workspace}"
  secrets_file = "secrets/lab.yaml"
}
