# Written by `talosmith synth sandbox --hcl` from environments/sandbox.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.
# Before the first init, `talosmith provider install` puts the talosmith provider where it is found.

terraform {
  required_version = ">= 1.8.0"

  required_providers {
    aws       = { source = "hashicorp/aws", version = "~> 6.0" }
    talosmith = { source = "talosmith.internal/talosmith/talosmith", version = "0.1.0" }
  }

  backend "local" {
    path = "../../state/sandbox.tfstate"
  }
}

provider "aws" {
  region = "eu-central-1"

  default_tags {
    tags = { "managed-by" = "talosmith" }
  }
}

provider "talosmith" {
  owner        = "environment sandbox, backend local:state/sandbox.tfstate, workspace ${terraform.workspace}"
  secrets_file = "secrets/sandbox.yaml"
}
