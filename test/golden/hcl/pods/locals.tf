# Written by `talosmith synth pods --hcl` from environments/pods.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# The machines of each pool, by their key in addresses: what one of them has of its own.
locals {
  control_plane = {
    "cp-1" = {}
    "cp-2" = {}
    "cp-3" = {}
  }

  general = {
    "general-1" = {}
    "general-2" = {}
  }
}
