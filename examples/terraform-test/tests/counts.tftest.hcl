# With a stand-in for the provider, in a second: what the module makes of the file.
mock_provider "talosmith" {}

run "counts_of_the_file" {
  command = plan

  assert {
    condition     = length(talosmith_simulated_machine.machine) == 5
    error_message = "Three control planes and two workers stand in the file."
  }
}
