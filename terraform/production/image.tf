# Written by `talosmith synth production --hcl` from environments/production.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

data "aws_ami" "image" {
  most_recent = true
  owners      = ["540036508848"]

  filter {
    name   = "name"
    values = ["talos-v1.13.9-eu-central-1-amd64"]
  }
}
