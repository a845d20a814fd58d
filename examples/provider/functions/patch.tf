output "config" {
  value = provider::talosmith::patch(
    "machine: {type: worker}",
    yamlencode({ machine = { nodeLabels = { zone = "a" } } }),
  )
}
