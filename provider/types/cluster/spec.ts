// SPDX-License-Identifier: Apache-2.0
import type {
  ClusterSpec,
  ConfigSource,
  DesiredCluster,
  DesiredMachine,
  MachineSpec,
  Policy,
  PoolMachine,
} from "../../../engine/index.ts";
import {
  clusterSettings,
  givenIn,
  machineSettings,
  optionsOf,
  rolloutSettings,
  withDefaults,
} from "../../../model/settings/index.ts";
import { given } from "../../../talos/given.ts";
import type { SecretsBundle } from "../../../talos/secrets/index.ts";
import type { TalosVersion } from "../../../talos/version/index.ts";
import {
  attribute,
  DiagnosticError,
  isUnknown,
  isWhollyKnown,
  parseJson,
  path,
  type Unknown,
  unknown,
  type Value,
  valueFromJson,
} from "../../framework/index.ts";
import { adminOf } from "../access.ts";
import { type ClusterPlan, type ClusterState, type ClusterWishes, clusterAttributes } from "./attributes.ts";

/** What of a cluster's attributes the engine needs: from a state, or from a plan that is known. */
export type ClusterInput = Omit<
  ClusterState | ClusterPlan,
  | "config_contract"
  | "on_destroy"
  | "infrastructure_kind"
  | "id"
  | "ca_fingerprint"
  | "patch_file_hashes"
  | "steps"
  | "changes"
  | "drift"
> &
  Pick<ClusterState, "config_contract">;

type Versions = Pick<ClusterState, "talos_version" | "config_contract">;

/** The contract of a cluster's configs. A state of before there was one has that of its Talos version. */
export async function contractIn(state: Versions): Promise<string> {
  const { contractOf } = await import("../../../talos/version/index.ts");
  return contractOf(givenIn(clusterSettings, state)).toString();
}

/**
 * The contract that a plan comes to: the configured one, else the one that the cluster has, else that of the Talos
 * version. Unknown where what it follows from is.
 */
export async function plannedContract(
  { config_contract: configured, talos_version: talos }: Pick<ClusterWishes, "config_contract" | "talos_version">,
  prior: Versions | null,
): Promise<string | Unknown> {
  if (configured !== null) return configured;
  if (prior !== null) return contractIn(prior);
  return typeof talos === "string" ? contractIn({ talos_version: talos, config_contract: null }) : unknown;
}

/** The attributes as the engine takes them. */
export async function clusterSpec(input: ClusterInput, leaving: readonly MachineSpec[] = []): Promise<ClusterSpec> {
  const { Contract, contractOf, TalosVersion } = await import("../../../talos/version/index.ts");
  const { talos_endpoints: talosEndpoints, trust_on_first_use: trustOnFirstUse } = input;
  const configSource = configSourceOf(input.config_source);
  const settings = givenIn(clusterSettings, input);
  const previousContract = input.previous_contract === null ? null : Contract.parse(input.previous_contract);
  return {
    ...optionsOf(clusterSettings, settings),
    name: input.name,
    endpoint: input.endpoint,
    talosVersion: TalosVersion.parse(input.talos_version),
    contract: contractOf(settings),
    kubernetesVersion: input.kubernetes_version,
    machines: machineSpecs(input.machines),
    leaving,
    ...withoutNulls({ scalingPools: scalingPoolSpecs(input.scaling_pools) }),
    placeOf: ({ patch }) => patchPlace(input.machines, patch),
    ...withoutNulls({ talosEndpoints, trustOnFirstUse, configSource, previousContract }),
  };
}

/** The attribute that a patch is in; of those in files only the machine's config is known. */
function patchPlace(machines: ClusterInput["machines"], patch: string): string | undefined {
  for (const [name, { patches, patch_files: files }] of Object.entries(machines)) {
    // What files hold comes last, and is secret.
    const own = patches?.slice(0, patches.length - (files?.length ?? 0)) ?? [];
    const index = own.indexOf(patch);
    if (index >= 0) return `machines["${name}"].patches[${index}]`;
  }
  return undefined;
}

/** Of a cluster or a membership; null where it is not set. */
export function configSourceOf(value: string | null): ConfigSource | null {
  return value === "api" || value === "user-data" ? value : null;
}

export interface RenderOptions {
  /** Machines that should go. */
  readonly leaving?: readonly MachineSpec[];
  /** With `join`: the other stack's control planes as they are. @default a stand-in, good for planning only */
  readonly planes?: readonly DesiredMachine[];
  /** Machines of scaling pools that are there. @default none */
  readonly found?: readonly PoolMachine[];
}

/** The cluster with every machine's config. */
export async function renderCluster(
  input: ClusterInput,
  secrets: SecretsBundle,
  { leaving = [], planes, found = [] }: RenderOptions = {},
): Promise<DesiredCluster> {
  const { desiredCluster, withoutConfig, withPoolMachines } = await import("../../../engine/index.ts");
  const spec = withPoolMachines(await clusterSpec(input, leaving), found);
  if (input.join === null) return desiredCluster(spec, secrets);
  const desired = desiredCluster({ ...spec, machines: [standInPlane, ...spec.machines] }, secrets);
  const workers = desired.machines.filter(({ role }) => role === "worker");
  return { ...desired, machines: [...(planes ?? [{ ...standInPlane, ...withoutConfig }]), ...workers] };
}

function machineSpecs(machines: ClusterInput["machines"]): MachineSpec[] {
  return Object.entries(machines).map(([name, machine]) => ({
    ...optionsOf(machineSettings, givenIn(machineSettings, machine)),
    name,
    role: machine.role === "controlplane" ? "controlplane" : "worker",
    address: machine.address,
  }));
}

function scalingPoolSpecs(pools: ClusterInput["scaling_pools"]): ClusterSpec["scalingPools"] | null {
  if (pools === null) return null;
  const specs = Object.entries(pools).map(([name, { patches }]) => [name, given({ patches: patches ?? undefined })]);
  return Object.fromEntries(specs);
}

/** Machines that one input has and the next one has not. */
export function leavingMachines(before: ClusterInput, after: Pick<ClusterInput, "machines">): MachineSpec[] {
  return machineSpecs(before.machines).filter(({ name }) => after.machines[name] === undefined);
}

/** The next input with a wish for no value where META was taken out of it: machines forget nothing by themselves. */
export function withoutOldMeta<Next extends Pick<ClusterInput, "machines">>(before: ClusterInput, next: Next): Next {
  const machines = Object.entries(next.machines).map(([name, machine]) => {
    const old = Object.keys(before.machines[name]?.meta ?? {}).filter((key) => machine.meta?.[key] === undefined);
    if (old.length === 0) return [name, machine] as const;
    return [
      name,
      { ...machine, meta: { ...machine.meta, ...Object.fromEntries(old.map((key) => [key, ""])) } },
    ] as const;
  });
  return { ...next, machines: Object.fromEntries(machines) };
}

/** Machines of the prior state that this plan makes anew: their address is not known yet. */
export function replacedMachines(prior: ClusterInput, wishes: ClusterWishes): string[] {
  if (wishes.machines === null || isUnknown(wishes.machines)) return [];
  return Object.entries(wishes.machines)
    .filter(
      ([name, machine]) => prior.machines[name] !== undefined && !isUnknown(machine) && isUnknown(machine.address),
    )
    .map(([name]) => name);
}

/** Machines that this apply finds made anew: what stood at their place before is gone. */
export function remadeMachines(prior: ClusterInput, planned: ClusterInput): string[] {
  return Object.entries(planned.machines)
    .filter(([name, { address, member_id, fingerprint }]) => {
      const before = prior.machines[name];
      if (before === undefined || before.address !== address || before.member_id !== member_id) return true;
      // A new machine may have come at the address of the old one.
      return before.fingerprint !== null && before.fingerprint !== fingerprint;
    })
    .map(([name]) => name);
}

/**
 * A plan with stand-ins for addresses that are not known yet, because their machines are not made. The steps name
 * machines, so they come out the same. Undefined when something else is unknown.
 */
export function withStandIns(wishes: ClusterWishes): { input: ClusterInput; endpointKnown: boolean } | undefined {
  const {
    machines,
    endpoint,
    join,
    talos_endpoints: _e,
    id: _i,
    ca_fingerprint: _c,
    patch_file_hashes: _p,
    steps: _s,
    changes: _h,
    drift: _d,
    ...others
  } = wishes;
  if (isUnknown(machines) || machines === null || !isWhollyKnown(others as Value)) return undefined;
  const settled: Record<string, unknown> = {};
  for (const [name, machine] of Object.entries(machines)) {
    if (isUnknown(machine)) return undefined;
    const { address, fingerprint, provider_id: id, member_id: _m, hardware_id: _w, ...rest } = machine;
    if (!isWhollyKnown(rest as Value)) return undefined;
    settled[name] = {
      ...rest,
      member_id: null,
      hardware_id: null,
      address: isUnknown(address) ? `${name}.invalid` : address,
      fingerprint: isUnknown(fingerprint) ? null : fingerprint,
      provider_id: isUnknown(id) ? null : id,
    };
  }
  const standIn = isUnknown(endpoint) ? "https://endpoint.invalid:6443" : endpoint;
  return {
    input: {
      ...others,
      machines: settled,
      endpoint: standIn,
      // How machines are reached says nothing about what is done to them, and may come of something not made yet.
      talos_endpoints: null,
      join: join === null ? null : { control_planes: [] },
    } as unknown as ClusterInput,
    endpointKnown: !isUnknown(endpoint),
  };
}

type WithoutNulls<T> = { [K in keyof T]?: NonNullable<T[K]> };

function withoutNulls<T extends object>(values: T): WithoutNulls<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as WithoutNulls<T>;
}

/** The cluster that a state's `talosmith_cluster` tells of, and the files with more patches of each machine. */
export interface RecordedCluster {
  readonly spec: ClusterSpec;
  readonly patchFiles: ReadonlyMap<string, readonly string[]>;
  /** The same of each scaling pool. */
  readonly poolPatchFiles: ReadonlyMap<string, readonly string[]>;
}

/** Reads the attributes of the resource, as JSON. Undefined for workers of another stack's control plane. */
export async function recordedCluster(attributes: string): Promise<RecordedCluster | undefined> {
  const state = valueFromJson(
    attribute.objectOfAttributes(clusterAttributes),
    parseJson(attributes),
  ) as unknown as ClusterState;
  if (state.join !== null) return undefined;
  const filesOf = (holders: ClusterState["machines"] | NonNullable<ClusterState["scaling_pools"]>) =>
    new Map(Object.entries(holders).map(([name, { patch_files: own }]) => [name, own ?? []] as const));
  const poolPatchFiles = filesOf(state.scaling_pools ?? {});
  return { spec: await clusterSpec(state), patchFiles: filesOf(state.machines), poolPatchFiles };
}

/** A cluster by arguments as a stack has them; what is left out is null. Undefined for workers of another stack's. */
export function argumentsAsRecorded(set: { readonly machines: object }): Promise<RecordedCluster | undefined> {
  const nulls = (attributes: object) => Object.fromEntries(Object.keys(attributes).map((name) => [name, null]));
  const ofMachine = nulls(clusterAttributes.machines.nested?.attributes ?? {});
  const machines = Object.entries(set.machines).map(([name, own]) => [name, { ...ofMachine, ...own }]);
  // Only an infrastructure that Terraform makes has auto scaling groups.
  const left = { rollout: null, scaling_pools: null };
  const all = { ...nulls(clusterAttributes), ...set, ...left, machines: Object.fromEntries(machines) };
  return recordedCluster(JSON.stringify(all));
}

/** The `rollout` block as the engine takes it. */
export function policyOf({ rollout }: Pick<ClusterInput, "rollout">): Policy {
  return withDefaults(rolloutSettings, rollout === null ? {} : givenIn(rolloutSettings, rollout));
}

/** Stands for the control planes of another stack where nobody may be asked: while planning. */
export const standInPlane = {
  name: "control-plane",
  role: "controlplane",
  address: "control-plane.invalid",
} as const satisfies MachineSpec;

interface JoinWishes {
  readonly join: { readonly control_planes: readonly string[] } | null;
  readonly talos_endpoints: readonly string[] | null;
}

/**
 * The control planes of another stack, as they are: what is wished of them is what they have, so the engine finds
 * nothing to do there and only uses them to let workers join and leave.
 */
export async function joinedControlPlanes(
  { join, talos_endpoints }: JoinWishes,
  talosVersion: TalosVersion,
  secrets: SecretsBundle,
  signal: AbortSignal,
): Promise<readonly DesiredMachine[]> {
  const [{ MachineConfig, machineFacts }, { TalosVersion: versions }] = await Promise.all([
    import("../../../talos/config/index.ts"),
    import("../../../talos/version/index.ts"),
  ]);
  const ask = await adminOf(secrets, talos_endpoints);
  const options = { signal, deadline: 10_000 };
  return Promise.all(
    (join?.control_planes ?? []).map((address) =>
      ask(address, async (machine) => {
        const [text = "", { tag }, members] = await Promise.all([
          machine.machineConfig(options),
          machine.version(options),
          machine.clusterMembers(options),
        ]);
        const config = new MachineConfig(text);
        const facts = machineFacts(config);
        const name =
          facts.hostname ?? members.find((member) => member.addresses.includes(address))?.hostname ?? address;
        // Otherwise the engine would upgrade a machine that is not ours.
        if (versions.parse(tag).compare(talosVersion) < 0)
          throw new DiagnosticError({
            summary: "Workers newer than their control plane",
            detail: `${name} runs Talos ${tag}, the workers shall have ${talosVersion}. Upgrade the control plane in its own stack first.`,
            path: path("talos_version"),
          });
        return {
          name,
          role: "controlplane" as const,
          address,
          config,
          installImage: facts.installImage ?? "",
        };
      }),
    ),
  );
}
