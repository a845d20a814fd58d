resource "talosmith_cloud_init" "example" {
  path = "generated/demo/demo-cp-1.iso"

  meta_data = yamlencode({
    instance-id    = "demo-cp-1"
    local-hostname = "demo-cp-1"
  })

  network_config = yamlencode({
    version = 2
    ethernets = {
      lan = {
        match     = { macaddress = provider::talosmith::node_mac("controlplane", 0) }
        addresses = ["${provider::talosmith::node_address("10.0.0.0/24", 70, 0)}/24"]
        gateway4  = "10.0.0.1"
      }
    }
  })
}
