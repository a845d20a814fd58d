resource "talosmith_simulated_machine" "example" {
  name    = "demo-cp-1"
  cluster = "demo"
}

output "address" {
  value = talosmith_simulated_machine.example.address
}
