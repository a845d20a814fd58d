resource "talosmith_secrets" "example" {
  talos_version = "v1.13.9"
}

# Types that use this provider take the secrets from the state.
provider "talosmith" {
  alias   = "with_state"
  secrets = talosmith_secrets.example.bundle
}
