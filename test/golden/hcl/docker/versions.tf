# Written by `talosmith synth docker --hcl` from environments/docker.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.
# Before the first init, `talosmith provider install` puts the talosmith provider where it is found.

terraform {
  required_version = ">= 1.8.0"

  required_providers {
    docker    = { source = "kreuzwerker/docker", version = "~> 3.6" }
    talosmith = { source = "talosmith.internal/talosmith/talosmith", version = "0.1.0" }
  }

  backend "local" {
    path = "../../state/docker.tfstate"
  }
}

provider "docker" {}

provider "talosmith" {
  owner        = "environment docker, backend local:state/docker.tfstate, workspace ${terraform.workspace}"
  secrets_file = "secrets/docker.yaml"
}
