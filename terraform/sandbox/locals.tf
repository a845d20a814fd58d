# Written by `talosmith synth sandbox --hcl` from environments/sandbox.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# The machines of each pool, by their key in addresses: what one of them has of its own.
locals {
  control_plane = {
    "cp-1" = { subnet_id = aws_subnet.public_1.id }
  }

  worker = {
    "w-1" = { subnet_id = aws_subnet.public_1.id }
  }
}
