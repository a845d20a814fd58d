# Written by `talosmith synth metal --hcl` from environments/metal.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.
# Before the first init, `talosmith provider install` puts the talosmith provider where it is found.

terraform {
  required_version = ">= 1.8.0"

  required_providers {
    talosmith = { source = "talosmith.internal/talosmith/talosmith", version = "0.1.0" }
  }

  backend "local" {
    path = "../../state/metal.tfstate"
  }
}

provider "talosmith" {
  owner        = "environment metal, backend local:state/metal.tfstate, workspace ${terraform.workspace}"
  secrets_file = "secrets/metal.yaml"
}
