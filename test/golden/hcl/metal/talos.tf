# Written by `talosmith synth metal --hcl` from environments/metal.yaml; change that file, not this one.
# Versions, sizes and counts come from there; what each machine has of its own is in locals.tf.

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "machine" {
  for_each = merge(local.control_plane, local.storage)

  name       = each.key
  address    = each.value.address
  cluster    = "rack"
  machine_id = each.value.address
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "rack"
  additional_sans     = ["10.20.0.10"]
  config_contract     = "v1.13"
  endpoint            = "https://10.20.0.10:6443"
  infrastructure_kind = "metal"
  install_image       = "factory.talos.dev/metal-installer/c9078f9419961640c712a8bf2bb9174933dfcf1da383fd8ea2b7dc21493f8bac:v1.13.9"
  kubernetes_version  = "1.36.3"
  talos_version       = "v1.13.9"
  machines = merge(
    { for key, machine in local.control_plane : key => {
      role        = "controlplane"
      address     = machine.address
      fingerprint = machine.fingerprint
      member_id   = talosmith_member.machine[key].id
      patches = [
        "machine:\n  install:\n    diskSelector:\n      size: \">= 200GB\"\n      type: nvme\n    wipe: true\n",
        "machine:\n  install:\n    disk:\n      $patch: delete\n",
        "apiVersion: v1alpha1\nkind: LinkAliasConfig\nname: net0\nselector:\n  match: mac(link.permanent_addr) == \"${machine.mac}\"\n",
        "apiVersion: v1alpha1\nkind: LinkConfig\nname: net0\nup: true\naddresses:\n  - address: ${machine.address}/24\nroutes:\n  - gateway: 10.20.0.1\n",
        "apiVersion: v1alpha1\nkind: ResolverConfig\nnameservers:\n  - address: 10.20.0.1\n",
        "apiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: 10.20.0.10\nlink: net0\n",
      ]
      meta = {
        "10" = "addresses:\n  - address: \"${machine.address}/24\"\n    linkName: eth0\n    family: inet4\n    scope: global\n    flags: permanent\n    layer: platform\nroutes:\n  - family: inet4\n    gateway: \"10.20.0.1\"\n    outLinkName: eth0\n    table: main\n    scope: global\n    type: unicast\n    protocol: static\n    layer: platform\nhostnames:\n  - hostname: \"${key}\"\n    layer: platform\nresolvers:\n  - dnsServers: [\"10.20.0.1\"]\n    layer: platform\n"
      }
    } },
    { for key, machine in local.storage : key => {
      role        = "worker"
      address     = machine.address
      fingerprint = machine.fingerprint
      member_id   = talosmith_member.machine[key].id
      patches = concat([
        "machine:\n  install:\n    disk: ${machine.disk}\n    image: factory.talos.dev/metal-installer/98c912e25a452279d00bd5f060b0b3f6677ee1546f391928bab5ed1e5bd90bd7:v1.13.9\n    wipe: true\n",
        "apiVersion: v1alpha1\nkind: LinkConfig\nname: ${machine.link}\nup: true\naddresses:\n  - address: ${machine.address}/24\nroutes:\n  - gateway: 10.20.0.1\n",
        "apiVersion: v1alpha1\nkind: ResolverConfig\nnameservers:\n  - address: 10.20.0.1\n",
        "machine:\n  nodeLabels:\n    storage: \"true\"\n",
      ], machine.own_patches)
      meta = {
        "10" = "addresses:\n  - address: \"${machine.address}/24\"\n    linkName: eth0\n    family: inet4\n    scope: global\n    flags: permanent\n    layer: platform\nroutes:\n  - family: inet4\n    gateway: \"10.20.0.1\"\n    outLinkName: eth0\n    table: main\n    scope: global\n    type: unicast\n    protocol: static\n    layer: platform\nhostnames:\n  - hostname: \"${key}\"\n    layer: platform\nresolvers:\n  - dnsServers: [\"10.20.0.1\"]\n    layer: platform\n"
        "12" = "rack: \"${key}\""
      }
    } },
  )
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "rack"
  endpoints        = [for machine in local.control_plane : machine.address]
  keep_on_disk     = false
  kubeconfig_path  = "generated/metal/kubeconfig"
  talosconfig_path = "generated/metal/talosconfig"

  depends_on = [talosmith_cluster.cluster]
}
