# Written by `talosmith synth pods --hcl` from environments/pods.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.
# Before the first init, `talosmith provider install` puts the talosmith provider where it is found.

terraform {
  required_version = ">= 1.8.0"

  required_providers {
    kubernetes = { source = "hashicorp/kubernetes", version = "~> 2.38" }
    talosmith  = { source = "talosmith.internal/talosmith/talosmith", version = "0.1.0" }
  }

  backend "local" {
    path = "../../state/pods.tfstate"
  }
}

provider "kubernetes" {
  config_context = "host"
  config_path    = "~/.kube/config"
}

provider "talosmith" {
  owner        = "environment pods, backend local:state/pods.tfstate, workspace ${terraform.workspace}"
  secrets_file = "secrets/pods.yaml"
}
