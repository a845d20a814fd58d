terraform {
  required_providers {
    talosmith = {
      source  = "talosmith.internal/talosmith/talosmith"
      version = "0.1.0"
    }
  }
}

# The secrets stay in this file; neither plan nor state has them.
provider "talosmith" {
  secrets_file = "secrets/demo.yaml"
}
