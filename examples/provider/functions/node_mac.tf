output "mac" {
  value = provider::talosmith::node_mac("worker", 0) # 52:54:00:c2:00:01
}
