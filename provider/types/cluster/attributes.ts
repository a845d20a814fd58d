// SPDX-License-Identifier: Apache-2.0

import { type Attributes, attribute, type ConfigOf, type PlanOf, type StateOf } from "../../framework/index.ts";
import { oneOf, someEndpoint } from "../value-rules.ts";
import { rolloutAttributes } from "./rollout-attributes.ts";

export const clusterAttributes = {
  name: attribute.string({ mode: "required", description: "Name of the cluster. Can't be changed." }),
  endpoint: attribute.string({
    mode: "required",
    description: "URL of the Kubernetes API, such as `https://10.5.0.10:6443`.",
  }),
  talos_version: attribute.string({
    mode: "required",
    description: "Talos release, such as `v1.13.9`. Goes up only; the machines are then upgraded one after another.",
  }),
  kubernetes_version: attribute.string({
    mode: "required",
    description: "Kubernetes version without `v`, such as `1.36.3`. Goes up only, by one minor release at a time.",
  }),
  machines: attribute.nestedMap({
    mode: "required",
    description:
      "All machines of the cluster by name. A name is also the host name. A machine that is taken out is drained, leaves etcd and is wiped.",
    attributes: {
      role: attribute.string({
        mode: "required",
        description: "`controlplane` or `worker`. Can't be changed.",
        validators: [oneOf("controlplane", "worker")],
      }),
      address: attribute.string({ mode: "required", description: "Where the machine's Talos API answers." }),
      fingerprint: attribute.string({
        mode: "optional",
        description:
          "Fingerprint of the machine's certificate in maintenance mode. With it, the first config, which holds secrets, goes to this machine only.",
      }),
      member_id: attribute.string({
        mode: "optional",
        description:
          "The `id` of the machine's `talosmith_member`: a machine that is taken out then leaves the cluster before it is destroyed.",
      }),
      hardware_id: attribute.string({
        mode: "optional",
        description:
          "The `id` of a `terraform_data` whose replacement means that the machine is stopped: it changes nothing here, but a plan that stops several control planes at once is refused.",
      }),
      patches: attribute.stringList({
        mode: "optional",
        description:
          "Config patches for this machine, as YAML. They are in plan and state: a patch that holds a secret is refused and belongs in `patch_files`.",
      }),
      patch_files: attribute.stringList({
        mode: "optional",
        description:
          "Files with more config patches, applied after `patches`, relative to the project's root. For patches that hold secrets, such as passwords of registries: they are read when they are needed, and only a keyed hash is stored. A file may be encrypted with age (`.age`) or SOPS (`.sops.yaml`), as `secrets_file` may. One that holds nothing but the passphrase of an encrypted system volume is named with the volume and the key's slot: `secrets/disk.key#STATE/0`.",
      }),
      meta: attribute.stringMap({
        mode: "optional",
        description:
          "Values of the machine's META partition by key, such as `10` for its network; an empty text takes a value away, and so does taking the key out. No secrets: they are in plan and state.",
      }),
    },
  }),
  dns_domain: attribute.string({
    mode: "optional",
    description: "DNS domain inside of the cluster. Default `cluster.local`. Can't be changed.",
  }),
  pod_subnets: attribute.stringList({
    mode: "optional",
    description: "Networks that pods get their addresses from. Default `10.244.0.0/16`. Can't be changed.",
  }),
  service_subnets: attribute.stringList({
    mode: "optional",
    description: "Networks that services get their addresses from. Default `10.96.0.0/12`. Can't be changed.",
  }),
  cni: attribute.string({
    mode: "optional",
    description: "Pod network: `flannel` (default), `none`, or `custom` with `cni_urls`.",
    validators: [oneOf("flannel", "none", "custom")],
  }),
  cni_urls: attribute.stringList({ mode: "optional", description: "Manifests of a custom pod network." }),
  kubespan: attribute.bool({ mode: "optional", description: "WireGuard between all machines. Default false." }),
  discovery: attribute.bool({ mode: "optional", description: "Talos's discovery service. Default true." }),
  allow_scheduling_on_control_planes: attribute.bool({
    mode: "optional",
    description: "Whether control planes run ordinary pods. Default false.",
  }),
  additional_sans: attribute.stringList({
    mode: "optional",
    description: "Further names and addresses in the certificates of the Talos and Kubernetes APIs.",
  }),
  install_disk: attribute.string({
    mode: "optional",
    description: "Disk that Talos is installed on. Default `/dev/sda`.",
  }),
  install_image: attribute.string({
    mode: "optional",
    description: "Installer image. Default: the one of the Talos release, without extensions.",
  }),
  registry_mirrors: attribute.stringListMap({ mode: "optional", description: "Mirror URLs by registry host." }),
  join: attribute.nestedObject({
    mode: "optional",
    description:
      "For a stack that has only workers: the control plane of another stack, which is used and never changed. `machines` then has no control plane.",
    attributes: {
      control_planes: attribute.stringList({ mode: "required", description: "Addresses of its control planes." }),
    },
  }),
  infrastructure_kind: attribute.string({
    mode: "optional",
    description: "What the machines run on, such as `aws`. Can't be changed.",
  }),
  talos_endpoints: attribute.stringList({
    mode: "optional",
    description:
      "Control planes, or a load balancer before them, through which the Talos API of every machine is reached, when that is not possible at each machine's own address. A machine that waits for its first config can't be reached this way: give it the config as user data (`talosmith_machine_config`). The Kubernetes API is then reached at `endpoint` only.",
    validators: [someEndpoint],
  }),
  trust_on_first_use: attribute.bool({
    mode: "optional",
    description:
      "Whether machines without a `fingerprint` are sent their first config, which holds secrets, as they are. Default false.",
  }),
  rollout: attribute.nestedObject({
    mode: "optional",
    description: "How careful changes of machines that are in use are. Changing it alone changes nothing else.",
    attributes: rolloutAttributes,
  }),
  on_destroy: attribute.string({
    mode: "defaulted",
    default: "reset",
    description:
      "What a destroy does: `reset` wipes every machine (default), `keep` leaves them running and only forgets them, `prevent` refuses.",
    validators: [oneOf("reset", "keep", "prevent")],
  }),
  id: attribute.string({ mode: "computed", stable: true, description: "The cluster's name." }),
  ca_fingerprint: attribute.string({
    mode: "computed",
    stable: true,
    description: "Public fingerprint of the CA that the machines trust. Tells a lost or exchanged secrets bundle.",
  }),
  patch_file_hashes: attribute.stringMap({
    mode: "computed",
    stable: true,
    description: "Tells which of the `patch_files` have changed; keyed with the cluster's secrets.",
  }),
  steps: attribute.stringList({
    mode: "computed",
    stable: true,
    description:
      "What the apply will do, in order. The next plan begins without them, so that it shows its own steps only.",
  }),
  changes: attribute.stringListMap({
    mode: "computed",
    stable: true,
    description:
      "What the apply will change in each machine's config, by path and without secrets. The next plan begins without them.",
  }),
  drift: attribute.stringList({
    mode: "computed",
    stable: true,
    description:
      "What a refresh found to be different from what was applied, as the steps that mend it. Empty when all is well.",
  }),
} satisfies Attributes;

export type ClusterState = StateOf<typeof clusterAttributes>;
export type ClusterPlan = PlanOf<typeof clusterAttributes>;
export type ClusterWishes = ConfigOf<typeof clusterAttributes>;
