data "talosmith_schematic" "example" {
  talos_version = "v1.13.9"
  platform      = "nocloud"
  extensions    = ["siderolabs/qemu-guest-agent"]
}

output "installer_image" {
  value = data.talosmith_schematic.example.installer_image
}
