// SPDX-License-Identifier: Apache-2.0
import type * as z from "zod";
import { given } from "../../talos/given.ts";
import { contractOf, TalosVersion } from "../../talos/version/index.ts";
import { type Data, dataAt, isData } from "../../talos/yaml/index.ts";
import type { Patches } from "../resolve-cluster.ts";
import { rulesFor, type Violation, violationsOf } from "../rules/index.ts";
import { anyKind, type ClusterSection, type Kind, kindNames, kinds, sections } from "../schema/index.ts";
import { check } from "./check.ts";
import type { Environment } from "./environment.ts";
import type { Fault } from "./fault.ts";
import type { Layers } from "./layers.ts";
import { miscounts, withCounts } from "./metal.ts";
import { patchText } from "./patch-text.ts";
import type { RecordedFacts } from "./recorded-state.ts";

/** What a workers-only environment may say of the cluster itself; the rest is the other environment's to say. */
const ownOfWorkers: ReadonlySet<string> = new Set([
  "talosVersion",
  "installDisk",
  "installImage",
  "schematic",
  "patches",
]);

export interface BuildInput {
  readonly name: string;
  /** Path of the environment's file. */
  readonly file: string;
  /** What the environment's own file says, without its base. */
  readonly own: Data;
  /** All of it, references resolved. */
  readonly data: Data;
  readonly joins: Environment | undefined;
  /** What a local Terraform state says of the cluster. */
  readonly recorded: RecordedFacts;
  readonly layers: Layers;
  readonly faults: Fault[];
  readonly warnings: Fault[];
  /** Gets what breaks a rule: the faults, or the warnings where the cluster exists already. */
  readonly broken: Fault[];
}

/** Checks the data of an environment section by section, then by the rules, and adds a fault for all that is wrong. */
export function buildEnvironment(input: BuildInput): Environment {
  const { name, data, joins, layers, faults, warnings, broken } = input;
  const workersOnly = data.controlPlaneRef !== undefined;
  const parsed = checkSections(input, workersOnly);
  if (workersOnly) refuseClusterSettings(input);
  const { kind, infrastructure, failed, common } = parsed;
  const { cluster, secrets, backup, ...others } = common;
  const recorded = others.backend.kind === "local" ? input.recorded : {};
  if (kind === "metal") faults.push(...miscounts(parsed, layers));
  const { controlPlane, workers } = kind === "metal" ? withCounts(parsed) : parsed;
  // Kind and sections belong together: all of them were checked by this kind's schema.
  const environment = given({
    name,
    file: input.file,
    kind,
    cluster: completeCluster(name, withMachinePatches(cluster, infrastructure), joins, recorded.contract),
    infrastructure,
    controlPlane: controlPlane && withPatchTexts(controlPlane),
    workers: workers.map(withPatchTexts),
    joins,
    secrets: { file: secrets.file ?? joins?.secrets.file ?? `secrets/${name}.yaml` },
    backup,
    ...others,
    warnings,
  }) as unknown as Environment;
  if (workersOnly && joins === undefined) return environment;
  // A section with faults was replaced by defaults, of which nothing can be said.
  const isAbout = ({ path, also }: Violation) => [path[0], also?.[0]].some((section) => failed.has(String(section)));
  for (const violation of violationsOf(environment, rulesFor(failed.has("infrastructure") ? undefined : kind)))
    if (!isAbout(violation))
      (violation.severity === "error" ? broken : warnings).push(faultOf(violation, data, layers));
  return environment;
}

/** Each section, or its defaults when it has faults, so that the others are still checked against each other. */
function checkSections({ data, layers, faults }: BuildInput, workersOnly: boolean) {
  const kind = kindOf(data);
  const failed = new Set<string>();
  const section = <T extends z.ZodType>(name: string, schema: T, value = data[name]): z.output<T> | undefined => {
    const result = check(schema, value, [name], { kind, layers, faults });
    if (result === undefined && value !== undefined) failed.add(name);
    return result;
  };
  const common = Object.fromEntries(
    Object.entries<z.ZodType>(sections).map(([name, schema]) => {
      const [value, nothing] = name === "cluster" ? [data.cluster ?? {}, {}] : [data[name], undefined];
      return [name, section(name, schema, value) ?? schema.parse(nothing)];
    }),
  ) as { readonly [Name in keyof typeof sections]: z.output<(typeof sections)[Name]> };
  const schema = kind === undefined ? anyKind : kinds[kind];
  const infrastructure = section("infrastructure", schema.infrastructure);
  // Machines of a metal environment say themselves what they are.
  if (kind !== "metal") requireControlPlane(data, workersOnly, layers, faults);
  const controlPlane = workersOnly
    ? undefined
    : (section("controlPlane", schema.controlPlane, data.controlPlane ?? {}) ?? schema.controlPlane.parse({}));
  return {
    kind,
    common,
    // What no kind's schema has checked is not looked into.
    infrastructure: kind !== undefined && isData(infrastructure) ? infrastructure : { machines: {} },
    controlPlane,
    workers: section("workers", schema.workers) ?? [],
    failed,
  };
}

function refuseClusterSettings({ own, layers, faults }: BuildInput): void {
  if (!isData(own.cluster)) return;
  for (const key of Object.keys(own.cluster).filter((key) => !ownOfWorkers.has(key)))
    faults.push(
      layers.fault(
        ["cluster", key],
        {
          found: "a setting of the whole cluster",
          expected: `no ${key} here`,
          hint: "It is taken from the environment that has the control plane. Remove it.",
        },
        { part: "key" },
      ),
    );
}

function requireControlPlane(data: Data, workersOnly: boolean, layers: Layers, faults: Fault[]): void {
  if (workersOnly || data.controlPlane !== undefined) return;
  if (faults.some((fault) => fault.path.startsWith("controlPlane"))) return;
  faults.push(
    layers.fault([], {
      found: "neither controlPlane nor controlPlaneRef",
      expected: "one of the two",
      hint: "Add controlPlane: { count: 1 }, or name another environment's control plane.",
    }),
  );
}

/** The kind, unless it is unknown; that was found before. */
export function kindOf({ infrastructure }: Data): Kind | undefined {
  return kindNames.find((known) => isData(infrastructure) && known === infrastructure.kind);
}

function withPatchTexts<P extends { readonly patches: readonly unknown[] }>(pool: P) {
  return { ...pool, patches: pool.patches.map(patchText) };
}

/** Patches that a machine carries itself come before those that the cluster has for it. */
function withMachinePatches(section: ClusterSection, infrastructure: object): ClusterSection {
  const machines = "machines" in infrastructure ? (infrastructure.machines as Machines) : {};
  const own = Object.entries(machines).filter(([, { patches }]) => patches.length > 0);
  if (own.length === 0) return section;
  const { patches } = section;
  const merged = { ...patches.machines };
  for (const [name, machine] of own) merged[name] = [...machine.patches, ...(merged[name] ?? [])];
  return { ...section, patches: { ...patches, machines: merged } };
}

type Machines = Record<string, { patches: ClusterSection["patches"]["all"] }>;

function completeCluster(
  name: string,
  section: ClusterSection,
  joins: Environment | undefined,
  recordedContract: string | undefined,
): Environment["cluster"] {
  const { patches: own, ...rest } = section;
  const patches: Patches = {
    all: own.all.map(patchText),
    controlPlane: own.controlPlane.map(patchText),
    worker: own.worker.map(patchText),
    machines: Object.fromEntries(Object.entries(own.machines).map(([machine, list]) => [machine, list.map(patchText)])),
  };
  if (joins !== undefined) {
    const overrides = Object.fromEntries(Object.entries(rest).filter(([key]) => ownOfWorkers.has(key)));
    const cluster = { ...joins.cluster, ...overrides };
    return { ...cluster, patches };
  }
  const kubernetesVersion = rest.kubernetesVersion ?? TalosVersion.parse(rest.talosVersion).defaultKubernetesVersion;
  return {
    ...rest,
    name: rest.name ?? name,
    kubernetesVersion: kubernetesVersion.replace(/^v/, ""),
    configContract: rest.configContract ?? recordedContract ?? contractOf(rest).toString(),
    patches,
  };
}

function faultOf(violation: Violation, data: Data, layers: Layers): Fault {
  const { path, also } = violation;
  return layers.fault(path, { value: dataAt(data, path), ...violation }, { also: also && layers.find(also) });
}
