resource "talosmith_secrets" "example" {}

provider "talosmith" {
  alias   = "with_state"
  secrets = talosmith_secrets.example.bundle
}

data "talosmith_machine_config" "example" {
  provider           = talosmith.with_state
  name               = "demo"
  endpoint           = "https://10.0.0.70:6443"
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"
  role               = "worker"
  patches            = [yamlencode({ machine = { sysctls = { "vm.max_map_count" = "262144" } } })]
  depends_on         = [talosmith_secrets.example]
}

output "config" {
  value = data.talosmith_machine_config.example.redacted
}
