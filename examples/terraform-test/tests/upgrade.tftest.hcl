# Every run goes on where the one before has ended; at the end all of it is destroyed.

run "the_environment_as_it_is" {
  assert {
    condition     = length([for role in output.machines : role if role == "controlplane"]) == 3
    error_message = "The environment has three control planes."
  }
}

run "the_next_talos" {
  variables {
    talos_version = "v1.13.9"
  }

  assert {
    condition     = talosmith_cluster.rehearsal.talos_version == "v1.13.9"
    error_message = "The cluster did not get to Talos v1.13.9."
  }
}

run "then_the_next_kubernetes" {
  variables {
    talos_version      = "v1.13.9"
    kubernetes_version = "1.36.3"
  }

  assert {
    condition     = length(talosmith_cluster.rehearsal.drift) == 0
    error_message = "Something runs that was not asked for: ${join(", ", talosmith_cluster.rehearsal.drift)}."
  }
}
