// SPDX-License-Identifier: Apache-2.0
import { stringify } from "yaml";
import { TalosVersion } from "../version/index.ts";
import { check, unknownKey } from "./check.ts";
import type { Environment, Patches } from "./environment.ts";
import { EnvironmentError, type Fault } from "./fault.ts";
import { Layers } from "./layers.ts";
import { type Data, isData, mergeUnder } from "./merge.ts";
import { formatFound } from "./path.ts";
import { type ReadFile, resolveReferences } from "./references.ts";
import { rulesFor, type Violation } from "./rules/index.ts";
import { type ClusterSection, type Kind, kindNames, kinds, sections } from "./schema/index.ts";
import { YamlSource } from "./yaml-source.ts";

const folder = "environments";
const topLevelKeys = ["cluster", "infrastructure", "controlPlane", "controlPlaneRef", "workers", "secrets", "backend"];
/** What a workers-only environment may say of the cluster itself; the rest is the other environment's to say. */
const ownOfWorkers: ReadonlySet<string> = new Set([
  "talosVersion",
  "installDisk",
  "installImage",
  "schematic",
  "patches",
]);

export function environmentFile(name: string): string {
  return `${folder}/${name}.yaml`;
}

/** Reads one environment through `read`. Throws EnvironmentError with every fault that could be found. */
export function parseEnvironment(name: string, read: ReadFile): Environment {
  const faults: Fault[] = [];
  const [own, base] = [environmentFile(name), environmentFile("base")].map((file) => openRoot(file, read, faults));
  if (own === undefined || faults.length > 0) throw new EnvironmentError(name, faults);

  const layers = new Layers(own, base === undefined ? [] : [base]);
  for (const key of [own, base].flatMap((source) => Object.keys((source?.value ?? {}) as Data)))
    if (!topLevelKeys.includes(key)) faults.push(unknownKey(layers, [key], topLevelKeys));

  const merged = mergeUnder((base?.value ?? {}) as Data, own.value as Data);
  const joins = joinedEnvironment(name, merged, read, layers, faults);
  const data = resolveReferences(merged, { read, layers, faults });
  const environment = build({ name, own: own.value as Data, data, joins, layers, faults });
  if (environment === undefined || faults.length > 0) throw new EnvironmentError(name, faults);
  return environment;
}

function openRoot(file: string, read: ReadFile, faults: Fault[]): YamlSource | undefined {
  const text = read(file);
  const missing = YamlSource.parse(file, "").start;
  if (text === undefined) {
    if (file !== environmentFile("base"))
      faults.push({
        position: missing,
        path: "",
        found: "no such file",
        expected: file,
        hint: "talosmith init writes one.",
      });
    return undefined;
  }
  const source = YamlSource.parse(file, text);
  faults.push(...source.faults);
  if (source.faults.length === 0 && !isData(source.value))
    faults.push({
      position: source.start,
      path: "",
      found: formatFound(source.value),
      expected: "a mapping",
      hint: "Begin with cluster: or infrastructure:.",
    });
  return source;
}

/** The environment that `controlPlaneRef: { environment: … }` names. */
function joinedEnvironment(name: string, data: Data, read: ReadFile, layers: Layers, faults: Fault[]) {
  const reference = data.controlPlaneRef;
  if (reference === undefined || typeof reference === "string") return undefined;
  const other = isData(reference) && Object.keys(reference).length === 1 ? reference.environment : undefined;
  const path = ["controlPlaneRef"];
  if (typeof other !== "string" || other === name) {
    const expected = "the path of a file, or { environment: <the name of another environment> }";
    faults.push(
      layers.fault(path, {
        value: other ?? reference,
        expected,
        hint: "Write ./control-plane.yaml or { environment: production }.",
      }),
    );
    return undefined;
  }
  try {
    const environment = parseEnvironment(other, read);
    if (environment.controlPlane !== undefined) return environment;
    faults.push(
      layers.fault(path, {
        found: `environment ${other}, which has none`,
        expected: "an environment with a control plane of its own",
        hint: "Name the environment that has the control plane.",
      }),
    );
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    faults.push(
      layers.fault(path, {
        found: `environment ${other} with ${error.faults.length} fault(s)`,
        expected: "an environment without faults",
        hint: `Correct ${environmentFile(other)} first: talosmith synth ${other}.`,
      }),
    );
  }
  return undefined;
}

interface BuildInput {
  readonly name: string;
  readonly own: Data;
  readonly data: Data;
  readonly joins: Environment | undefined;
  readonly layers: Layers;
  readonly faults: Fault[];
}

function build({ name, own, data, joins, layers, faults }: BuildInput): Environment | undefined {
  const cluster = check(sections.cluster, data.cluster ?? {}, ["cluster"], layers, faults);
  const secrets = check(sections.secrets, data.secrets, ["secrets"], layers, faults);
  const backend = check(sections.backend, data.backend, ["backend"], layers, faults);
  const workersOnly = data.controlPlaneRef !== undefined;
  if (workersOnly && isData(own.cluster))
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

  const kind = kindOf(data, layers, faults);
  if (kind === undefined) return undefined;
  const machines = checkMachines(kind, data, workersOnly, layers, faults);
  if (cluster === undefined || secrets === undefined || backend === undefined || machines === undefined)
    return undefined;

  const warnings: Fault[] = [];
  const environment = {
    name,
    file: environmentFile(name),
    kind,
    cluster: completeCluster(name, cluster, joins),
    ...machines,
    ...(joins === undefined ? {} : { joins }),
    secrets: { file: secrets.file ?? joins?.secrets.file ?? `secrets/${name}.yaml` },
    backend,
    warnings,
  } as Environment;
  if (workersOnly && joins === undefined) return environment;
  for (const rule of rulesFor(kind))
    for (const violation of rule(environment))
      (violation.severity === "error" ? faults : warnings).push(faultOf(violation, data, layers));
  return environment;
}

function kindOf(data: Data, layers: Layers, faults: Fault[]): Kind | undefined {
  const value = isData(data.infrastructure) ? data.infrastructure.kind : undefined;
  const kind = kindNames.find((known) => known === value);
  if (kind === undefined) {
    const hint = value === undefined ? "Add infrastructure: { kind: … }." : "Change the value.";
    faults.push(
      layers.fault(["infrastructure", "kind"], {
        value,
        expected: kindNames.join(", ").replace(/, ([^,]*)$/, " or $1"),
        hint,
      }),
    );
  }
  return kind;
}

function checkMachines(kind: Kind, data: Data, workersOnly: boolean, layers: Layers, faults: Fault[]) {
  const schema = kinds[kind];
  const infrastructure = check(schema.infrastructure, data.infrastructure, ["infrastructure"], layers, faults);
  if (
    !workersOnly &&
    data.controlPlane === undefined &&
    faults.every((fault) => !fault.path.startsWith("controlPlane"))
  )
    faults.push(
      layers.fault([], {
        found: "neither controlPlane nor controlPlaneRef",
        expected: "one of the two",
        hint: "Add controlPlane: { count: 1 }, or name another environment's control plane.",
      }),
    );
  const controlPlane =
    data.controlPlane === undefined
      ? undefined
      : check(schema.controlPlane, data.controlPlane, ["controlPlane"], layers, faults);
  const workers = check(schema.workers, data.workers, ["workers"], layers, faults);
  if (infrastructure === undefined || workers === undefined || (!workersOnly && controlPlane === undefined))
    return undefined;
  return {
    infrastructure,
    ...(controlPlane === undefined
      ? {}
      : { controlPlane: { ...controlPlane, patches: controlPlane.patches.map(patchText) } }),
    workers: workers.map((pool) => ({ ...pool, patches: pool.patches.map(patchText) })),
  };
}

const patchText = (patch: unknown): string =>
  typeof patch === "string" ? patch : stringify(patch, { sortMapEntries: true });

function completeCluster(
  name: string,
  section: ClusterSection,
  joins: Environment | undefined,
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
    return { ...joins.cluster, ...overrides, patches };
  }
  const kubernetesVersion = rest.kubernetesVersion ?? TalosVersion.parse(rest.talosVersion).defaultKubernetesVersion;
  return { ...rest, name: rest.name ?? name, kubernetesVersion: kubernetesVersion.replace(/^v/, ""), patches };
}

function faultOf(violation: Violation, data: Data, layers: Layers): Fault {
  const value = violation.path.reduce<unknown>(
    (inner, step) => (inner as { [key: string | number]: unknown } | undefined)?.[step],
    data,
  );
  const words = {
    value,
    expected: violation.expected,
    hint: violation.hint,
    ...(violation.found === undefined ? {} : { found: violation.found }),
  };
  return layers.fault(violation.path, words, {
    also: violation.also === undefined ? undefined : layers.find(violation.also),
  });
}
