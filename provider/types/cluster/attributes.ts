// SPDX-License-Identifier: Apache-2.0
import {
  clusterSettings,
  machineSettings,
  rolloutSettings,
  scalingPoolSettings,
} from "../../../model/settings/index.ts";
import { type Attributes, attribute, type ConfigOf, type PlanOf, type StateOf } from "../../framework/index.ts";
import { attributesOf, describe } from "../setting-attributes.ts";
import { oneOf, someEndpoint } from "../value-rules.ts";

export const clusterAttributes = {
  ...attributesOf(clusterSettings),
  // Decided at creation where the configuration does not set it, and remembered: the Talos version moves on.
  config_contract: attribute.defaulted.string(describe(clusterSettings.configContract), { stable: true }),
  machines: attribute.required.nestedMap(
    "All machines of the cluster by name. A name is also the host name. A machine that is taken out is drained, leaves etcd and is wiped.",
    attributesOf(machineSettings),
  ),
  scaling_pools: attribute.optional.nestedMap(
    "Workers that an auto scaling group starts and terminates, by the name of their pool. They get their config by user-data, with the pool's name as the node label `talosmith.internal/pool`. A refresh finds them by it as nodes of the cluster; they are upgraded and changed as the listed machines are, and reached through the control planes. A destroy leaves them to their group.",
    attributesOf(scalingPoolSettings),
  ),
  join: attribute.optional.nestedObject(
    "For a stack that has only workers: the control plane of another stack, which is used and never changed. `machines` then has no control plane.",
    {
      control_planes: attribute.required.stringList("Addresses of its control planes."),
    },
  ),
  infrastructure_kind: attribute.optional.string("What the machines run on, such as `aws`. Can't be changed."),
  talos_endpoints: attribute.optional.stringList(
    "Control planes, or a load balancer before them, through which the Talos API of every machine is reached, when that is not possible at each machine's own address. A machine that waits for its first config can't be reached this way: give it the config as user data (`talosmith_machine_config`). The Kubernetes API is then reached at `endpoint` only.",
    { validators: [someEndpoint] },
  ),
  trust_on_first_use: attribute.optional.bool(
    "Whether machines without a `fingerprint` are sent their first config, which holds secrets, as they are. Default false.",
  ),
  config_source: attribute.optional.string(
    "How machines get their initial config: `api` (default), or `user-data`: they read it from user-data or a seed whenever they have none. Such a machine stays off after it was removed from the cluster, because it would join again.",
    { validators: [oneOf("api", "user-data")] },
  ),
  rollout: attribute.optional.nestedObject(
    "How careful changes of machines that are in use are. Changing it alone changes nothing else.",
    attributesOf(rolloutSettings),
  ),
  on_destroy: attribute.defaulted.string(
    "What a destroy does: `reset` wipes every machine (default), `keep` leaves them running and only forgets them, `prevent` refuses.",
    { default: "reset", validators: [oneOf("reset", "keep", "prevent")] },
  ),
  id: attribute.computed.string("The cluster's name.", { stable: true }),
  ca_fingerprint: attribute.computed.string(
    "Public fingerprint of the CA that the machines trust. Tells a lost or exchanged secrets bundle.",
    { stable: true },
  ),
  patch_file_hashes: attribute.computed.stringMap(
    "Tells which of the `patch_files` have changed; keyed with the cluster's secrets.",
    { stable: true },
  ),
  steps: attribute.computed.stringList(
    "What the apply will do, in order. The next plan begins without them, so that it shows its own steps only.",
    { stable: true },
  ),
  changes: attribute.computed.stringListMap(
    "What the apply will change in each machine's config, by path and without secrets. The next plan begins without them.",
    { stable: true },
  ),
  drift: attribute.computed.stringList(
    "What a refresh found to be different from what was applied, as the steps that mend it. Empty when all is well.",
    { stable: true },
  ),
} satisfies Attributes;

export type ClusterState = StateOf<typeof clusterAttributes>;
export type ClusterPlan = PlanOf<typeof clusterAttributes>;
export type ClusterWishes = ConfigOf<typeof clusterAttributes>;
