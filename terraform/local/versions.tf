# Written by `talosmith synth local --hcl` from environments/local.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.
# Before the first init, `talosmith provider install` puts the talosmith provider where it is found.

terraform {
  required_version = ">= 1.8.0"

  required_providers {
    talosmith = { source = "talosmith.internal/talosmith/talosmith", version = "0.1.0" }
  }

  backend "local" {
    path = "../../state/local.tfstate"
  }
}

provider "talosmith" {
  owner        = "environment local, backend local:state/local.tfstate, workspace ${terraform.workspace}"
  secrets_file = "generated/local/secrets.yaml"
}
