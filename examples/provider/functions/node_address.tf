output "address" {
  value = provider::talosmith::node_address("10.0.0.0/24", 70, 1) # 10.0.0.71
}
