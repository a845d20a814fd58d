# Written by `talosmith synth staging --hcl` from environments/staging.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.
# Before the first init, `talosmith provider install` puts the talosmith provider where it is found.

terraform {
  required_version = ">= 1.8.0"

  required_providers {
    aws       = { source = "hashicorp/aws", version = "~> 6.0" }
    talosmith = { source = "talosmith.internal/talosmith/talosmith", version = "0.1.0" }
  }

  backend "local" {
    path = "../../state/staging.tfstate"
  }
}

provider "aws" {
  region = "eu-central-1"

  default_tags {
    tags = { "managed-by" = "talosmith" }
  }
}

provider "talosmith" {
  owner        = "environment staging, backend local:state/staging.tfstate, workspace ${terraform.workspace}"
  secrets_file = "secrets/staging.yaml"
}
