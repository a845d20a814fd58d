// SPDX-License-Identifier: Apache-2.0
import {
  clusterSettings,
  machineSettings,
  rolloutSettings,
  type Setting,
  type Settings,
  type SettingType,
  type StateOfSettings,
} from "../../../model/settings/index.ts";
import {
  type Attribute,
  type Attributes,
  attribute,
  type ConfigOf,
  checkDuration,
  type PlanOf,
  type StateOf,
} from "../../framework/index.ts";
import { oneOf, shape, someEndpoint } from "../value-rules.ts";

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
  config_source: attribute.string({
    mode: "optional",
    description:
      "How machines get their initial config: `api` (default), or `user-data`: they read it from user-data or a seed whenever they have none. Such a machine stays off after it was removed from the cluster, because it would join again.",
    validators: [oneOf("api", "user-data")],
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

/** A table of settings as attributes of a Terraform type. */
type SettingAttributes<S extends Settings> = {
  readonly [K in keyof S as S[K] extends { readonly attribute: infer A extends string } ? A : never]: Attribute<
    S[K] extends { readonly attribute: infer A extends keyof StateOfSettings<S> }
      ? NonNullable<StateOfSettings<S>[A]>
      : never,
    S[K] extends { readonly required: true } ? "required" : "optional"
  >;
};

/** The attributes that Terraform has for settings, in their order. */
export function attributesOf<S extends Settings>(settings: S): SettingAttributes<S> {
  const rows = Object.values(settings).flatMap((row) =>
    row.attribute === undefined ? [] : [[row.attribute, attributeOf(row)] as const],
  );
  return Object.fromEntries(rows) as SettingAttributes<S>;
}

function attributeOf(row: Setting): Attribute {
  const { type } = row;
  const options = { mode: row.required ? "required" : "optional", description: describe(row) } as const;
  switch (type.kind) {
    case "flag":
      return attribute.bool(options);
    case "count":
      return attribute.integer(options);
    case "texts":
      return attribute.stringList(options);
    case "textMap":
      return attribute.stringMap(options);
    case "textsMap":
      return attribute.stringListMap(options);
    case "duration":
      return attribute.string({ ...options, validators: [checkDuration] });
    case "share":
      return attribute.string({
        ...options,
        validators: [
          shape(/^([1-9]\d{0,2}|1000|([1-9]\d?|100)%)$/, "a whole number from 1 on, or a share such as `25%`"),
        ],
      });
    case "cni":
      return attribute.string({ ...options, validators: [oneOf("flannel", "none", "custom")] });
    case "object":
      return attribute.nestedObject({ ...options, attributes: attributesOf(type.fields) });
    case "objects":
      return attribute.nestedList({ ...options, attributes: attributesOf(type.fields) });
    default:
      return type.choices === undefined
        ? attribute.string(options)
        : attribute.string({ ...options, validators: [oneOf(...type.choices)] });
  }
}

function describe({ description, type, required, fixed, otherwise, terraformDefault, ...row }: Setting): string {
  const standard = standardOf(type, terraformDefault ?? row.default);
  const words = standard ?? (otherwise === undefined ? undefined : `: ${otherwise}`);
  const sentences = [
    description,
    required || words === undefined ? "" : `Default${words}.`,
    fixed ? "Can't be changed." : "",
  ];
  return sentences.filter((sentence) => sentence !== "").join(" ");
}

/** A default that has nothing in it goes without saying. */
function standardOf(type: SettingType, standard: unknown): string | undefined {
  if (standard === undefined) return undefined;
  if (typeof standard === "boolean") return ` ${standard}`;
  if (typeof standard !== "object") return ` \`${standard}\``;
  const items = type.kind === "texts" && Array.isArray(standard) ? standard : [];
  return items.length === 0 ? undefined : ` ${items.map((item) => `\`${item}\``).join(", ")}`;
}
