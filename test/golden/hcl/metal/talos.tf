# Written by `talosmith synth metal --hcl` from environments/metal.yaml; change that file, not this one.

# Memberships: each ends, by leaving, before its machine does.
resource "talosmith_member" "machine_rack1_a" {
  name       = "rack1-a"
  address    = "10.20.0.11"
  cluster    = "rack"
  machine_id = "10.20.0.11"
}

resource "talosmith_member" "machine_rack1_b" {
  name       = "rack1-b"
  address    = "10.20.0.12"
  cluster    = "rack"
  machine_id = "10.20.0.12"
}

resource "talosmith_member" "machine_rack1_c" {
  name       = "rack1-c"
  address    = "10.20.0.13"
  cluster    = "rack"
  machine_id = "10.20.0.13"
}

resource "talosmith_member" "machine_rack2_a" {
  name       = "rack2-a"
  address    = "10.20.0.21"
  cluster    = "rack"
  machine_id = "10.20.0.21"
}

# The cluster: configs, bring-up, upgrades and end of the machines that it lists.
resource "talosmith_cluster" "cluster" {
  name                = "rack"
  additional_sans     = ["10.20.0.10"]
  endpoint            = "https://10.20.0.10:6443"
  infrastructure_kind = "metal"
  install_image       = "factory.talos.dev/metal-installer/c9078f9419961640c712a8bf2bb9174933dfcf1da383fd8ea2b7dc21493f8bac:v1.13.9"
  kubernetes_version  = "1.36.3"
  talos_version       = "v1.13.9"
  machines = {
    "rack1-a" = {
      address     = "10.20.0.11"
      fingerprint = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa="
      member_id   = talosmith_member.machine_rack1_a.id
      meta = {
        "10" = <<-EOT
          addresses:
            - address: "10.20.0.11/24"
              linkName: eth0
              family: inet4
              scope: global
              flags: permanent
              layer: platform
          routes:
            - family: inet4
              gateway: "10.20.0.1"
              outLinkName: eth0
              table: main
              scope: global
              type: unicast
              protocol: static
              layer: platform
          hostnames:
            - hostname: "rack1-a"
              layer: platform
          resolvers:
            - dnsServers: ["10.20.0.1"]
              layer: platform
        EOT
      }
      patches = [
        "machine:\n  install:\n    diskSelector:\n      size: \">= 200GB\"\n      type: nvme\n    wipe: true\n",
        "machine:\n  install:\n    disk:\n      $patch: delete\n",
        "apiVersion: v1alpha1\nkind: LinkAliasConfig\nname: net0\nselector:\n  match: mac(link.permanent_addr) == \"0c:c4:7a:00:00:0a\"\n",
        "apiVersion: v1alpha1\nkind: LinkConfig\nname: net0\nup: true\naddresses:\n  - address: 10.20.0.11/24\nroutes:\n  - gateway: 10.20.0.1\n",
        "apiVersion: v1alpha1\nkind: ResolverConfig\nnameservers:\n  - address: 10.20.0.1\n",
        "apiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: 10.20.0.10\nlink: net0\n",
      ]
      role = "controlplane"
    }
    "rack1-b" = {
      address     = "10.20.0.12"
      fingerprint = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb="
      member_id   = talosmith_member.machine_rack1_b.id
      meta = {
        "10" = <<-EOT
          addresses:
            - address: "10.20.0.12/24"
              linkName: eth0
              family: inet4
              scope: global
              flags: permanent
              layer: platform
          routes:
            - family: inet4
              gateway: "10.20.0.1"
              outLinkName: eth0
              table: main
              scope: global
              type: unicast
              protocol: static
              layer: platform
          hostnames:
            - hostname: "rack1-b"
              layer: platform
          resolvers:
            - dnsServers: ["10.20.0.1"]
              layer: platform
        EOT
      }
      patches = [
        "machine:\n  install:\n    diskSelector:\n      size: \">= 200GB\"\n      type: nvme\n    wipe: true\n",
        "machine:\n  install:\n    disk:\n      $patch: delete\n",
        "apiVersion: v1alpha1\nkind: LinkAliasConfig\nname: net0\nselector:\n  match: mac(link.permanent_addr) == \"0c:c4:7a:00:00:0b\"\n",
        "apiVersion: v1alpha1\nkind: LinkConfig\nname: net0\nup: true\naddresses:\n  - address: 10.20.0.12/24\nroutes:\n  - gateway: 10.20.0.1\n",
        "apiVersion: v1alpha1\nkind: ResolverConfig\nnameservers:\n  - address: 10.20.0.1\n",
        "apiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: 10.20.0.10\nlink: net0\n",
      ]
      role = "controlplane"
    }
    "rack1-c" = {
      address     = "10.20.0.13"
      fingerprint = "ccccccccccccccccccccccccccccccccccccccccccc="
      member_id   = talosmith_member.machine_rack1_c.id
      meta = {
        "10" = <<-EOT
          addresses:
            - address: "10.20.0.13/24"
              linkName: eth0
              family: inet4
              scope: global
              flags: permanent
              layer: platform
          routes:
            - family: inet4
              gateway: "10.20.0.1"
              outLinkName: eth0
              table: main
              scope: global
              type: unicast
              protocol: static
              layer: platform
          hostnames:
            - hostname: "rack1-c"
              layer: platform
          resolvers:
            - dnsServers: ["10.20.0.1"]
              layer: platform
        EOT
      }
      patches = [
        "machine:\n  install:\n    diskSelector:\n      size: \">= 200GB\"\n      type: nvme\n    wipe: true\n",
        "machine:\n  install:\n    disk:\n      $patch: delete\n",
        "apiVersion: v1alpha1\nkind: LinkAliasConfig\nname: net0\nselector:\n  match: mac(link.permanent_addr) == \"0c:c4:7a:00:00:0c\"\n",
        "apiVersion: v1alpha1\nkind: LinkConfig\nname: net0\nup: true\naddresses:\n  - address: 10.20.0.13/24\nroutes:\n  - gateway: 10.20.0.1\n",
        "apiVersion: v1alpha1\nkind: ResolverConfig\nnameservers:\n  - address: 10.20.0.1\n",
        "apiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: 10.20.0.10\nlink: net0\n",
      ]
      role = "controlplane"
    }
    "rack2-a" = {
      address     = "10.20.0.21"
      fingerprint = "ddddddddddddddddddddddddddddddddddddddddddd="
      member_id   = talosmith_member.machine_rack2_a.id
      meta = {
        "10" = <<-EOT
          addresses:
            - address: "10.20.0.21/24"
              linkName: eth0
              family: inet4
              scope: global
              flags: permanent
              layer: platform
          routes:
            - family: inet4
              gateway: "10.20.0.1"
              outLinkName: eth0
              table: main
              scope: global
              type: unicast
              protocol: static
              layer: platform
          hostnames:
            - hostname: "rack2-a"
              layer: platform
          resolvers:
            - dnsServers: ["10.20.0.1"]
              layer: platform
        EOT
        "12" = "rack: \"rack2-a\""
      }
      patches = [
        "machine:\n  install:\n    disk: /dev/disk/by-id/ata-BOOT\n    image: factory.talos.dev/metal-installer/98c912e25a452279d00bd5f060b0b3f6677ee1546f391928bab5ed1e5bd90bd7:v1.13.9\n    wipe: true\n",
        "apiVersion: v1alpha1\nkind: LinkConfig\nname: eno1\nup: true\naddresses:\n  - address: 10.20.0.21/24\nroutes:\n  - gateway: 10.20.0.1\n",
        "apiVersion: v1alpha1\nkind: ResolverConfig\nnameservers:\n  - address: 10.20.0.1\n",
        "machine:\n  nodeLabels:\n    storage: \"true\"\n",
        "machine:\n  sysctls:\n    vm.nr_hugepages: \"1024\"\n",
      ]
      role = "worker"
    }
  }
}

# Files that give access to the cluster.
resource "talosmith_client_files" "client" {
  cluster_name     = "rack"
  endpoints        = ["10.20.0.11", "10.20.0.12", "10.20.0.13"]
  keep_on_disk     = false
  kubeconfig_path  = "generated/metal/kubeconfig"
  nodes            = ["10.20.0.11", "10.20.0.12", "10.20.0.13", "10.20.0.21"]
  talosconfig_path = "generated/metal/talosconfig"

  depends_on = [talosmith_cluster.cluster]
}
