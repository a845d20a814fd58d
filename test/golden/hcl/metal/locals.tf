# Written by `talosmith synth metal --hcl` from environments/metal.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# The machines of each pool, by their key in addresses: what one of them has of its own.
locals {
  control_plane = {
    "rack1-a" = { address = "10.20.0.11", fingerprint = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=", mac = "0c:c4:7a:00:00:0a" }
    "rack1-b" = { address = "10.20.0.12", fingerprint = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb=", mac = "0c:c4:7a:00:00:0b" }
    "rack1-c" = { address = "10.20.0.13", fingerprint = "ccccccccccccccccccccccccccccccccccccccccccc=", mac = "0c:c4:7a:00:00:0c" }
  }

  storage = {
    "rack2-a" = {
      address     = "10.20.0.21"
      disk        = "/dev/disk/by-id/ata-BOOT"
      fingerprint = "ddddddddddddddddddddddddddddddddddddddddddd="
      link        = "eno1"
      own_patches = [
        "machine:\n  sysctls:\n    vm.nr_hugepages: \"1024\"\n",
      ]
    }
  }
}
