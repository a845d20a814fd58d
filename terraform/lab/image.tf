# Written by `talosmith synth lab --hcl` from environments/lab.yaml; change that file, not this one.

resource "libvirt_volume" "image" {
  name   = "talos-v1.13.9-lab.qcow2"
  pool   = "default"
  target = { format = { type = "qcow2" } }
  create = {
    content = {
      url = "https://factory.talos.dev/image/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba/v1.13.9/nocloud-amd64.qcow2"
    }
  }

  lifecycle {
    ignore_changes = [name, create, target]
  }
}
