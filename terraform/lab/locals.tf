# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# The machines of each pool, by their key in addresses: what one of them has of its own.
locals {
  control_plane = {
    "cp-1" = { address = "10.0.0.70", mac = "52:54:00:c1:00:01", seed = "135e5116c403" }
    "cp-2" = { address = "10.0.0.71", mac = "52:54:00:c1:00:02", seed = "54f4ca5c5465" }
    "cp-3" = { address = "10.0.0.72", mac = "52:54:00:c1:00:03", seed = "e3ba2593a94a" }
  }

  worker = {
    "w-1" = { address = "10.0.0.80", mac = "52:54:00:c2:00:01", seed = "0c0a01019ffb" }
    "w-2" = { address = "10.0.0.81", mac = "52:54:00:c2:00:02", seed = "ef111fc8f9c3" }
  }
}
