# Written by `talosmith synth staging --hcl` from environments/staging.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# The machines of each pool, by their key in addresses: what one of them has of its own.
locals {
  control_plane = {
    "cp-1" = { subnet_id = aws_subnet.private_1.id }
    "cp-2" = { subnet_id = aws_subnet.private_2.id }
    "cp-3" = { subnet_id = aws_subnet.private_3.id }
  }

  worker = {
    "w-1" = { subnet_id = aws_subnet.private_3.id }
    "w-2" = { subnet_id = aws_subnet.private_1.id }
  }
}
