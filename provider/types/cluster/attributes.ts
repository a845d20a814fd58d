// SPDX-License-Identifier: Apache-2.0
import { clusterSettings, machineSettings, rolloutSettings } from "../../../model/settings/index.ts";
import { type Attributes, attribute, type ConfigOf, type PlanOf, type StateOf } from "../../framework/index.ts";
import { attributesOf } from "../setting-attributes.ts";
import { oneOf, someEndpoint } from "../value-rules.ts";

export const clusterAttributes = {
  ...attributesOf(clusterSettings),
  machines: attribute.nestedMap({
    mode: "required",
    description:
      "All machines of the cluster by name. A name is also the host name. A machine that is taken out is drained, leaves etcd and is wiped.",
    attributes: attributesOf(machineSettings),
  }),
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
    attributes: attributesOf(rolloutSettings),
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
