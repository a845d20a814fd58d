// SPDX-License-Identifier: Apache-2.0

import { namesHint } from "../../talos/nearest-word.ts";
import { Contract } from "../../talos/version/index.ts";
import { type Data, isData } from "../../talos/yaml/index.ts";
import { isContract } from "../cluster-rules.ts";
import { environmentName, sections } from "../schema/index.ts";
import { buildEnvironment, kindOf } from "./build-environment.ts";
import { unknownKey } from "./check.ts";
import type { Environment } from "./environment.ts";
import { EnvironmentError, type Fault } from "./fault.ts";
import { Layers } from "./layers.ts";
import { mergeWithKnownKind } from "./merge.ts";
import { formatFound } from "./path.ts";
import { type RecordedFacts, recordedFactsOf } from "./recorded-state.ts";
import { type ReadFile, type ReferenceContext, resolveReferences } from "./references.ts";
import { YamlSource } from "./yaml-source.ts";

const folder = "environments";
const topLevelKeys = ["infrastructure", "controlPlane", "controlPlaneRef", "workers", ...Object.keys(sections)];

export function environmentFile(name: string): string {
  return `${folder}/${name}.yaml`;
}

export interface ParseOptions {
  /**
   * For a cluster that exists and is not brought to what the file says: a broken rule, or a change that is refused, is a
   * warning then, so that the cluster can be observed and destroyed. @default false
   */
  readonly existing?: boolean;
}

/** Reads one environment through `read`. Throws EnvironmentError with every fault that could be found. */
export function parseEnvironment(name: string, read: ReadFile, options: ParseOptions = {}): Environment {
  return parseJoining(name, read, [], options);
}

/** `joining`: the environments that have led here, each by joining the next. */
function parseJoining(name: string, read: ReadFile, joining: readonly string[], options: ParseOptions): Environment {
  const faults: Fault[] = [];
  const warnings: Fault[] = [];
  if (!environmentName.safeParse(name).success)
    throw new EnvironmentError(name, [misnamed(name, read.environments?.() ?? [])]);
  const [own, base] = [environmentFile(name), environmentFile("base")].map((file) => openRoot(file, read, faults));
  if (own === undefined || ![own, base].every(isUsable)) throw new EnvironmentError(name, faults);

  const layers = new Layers(own, base === undefined ? [] : [base]);
  const merged = mergeWithKnownKind((base?.value ?? {}) as Data, own.value as Data, layers, faults);
  const kind = kindOf(merged);
  for (const key of [own, base].flatMap((source) => Object.keys((source?.value ?? {}) as Data)))
    if (!topLevelKeys.includes(key)) faults.push(unknownKey({ kind, layers }, [key], topLevelKeys));
  const broken = options.existing ? warnings : faults;
  const joins = joinedEnvironment([...joining, name], merged, { read, layers, faults, options });
  const data = resolveReferences(merged, { read, layers, faults, broken });
  const recorded = recordedFactsOf(name, read);
  const environment = buildEnvironment({
    name,
    file: own.file,
    own: own.value as Data,
    data,
    joins,
    recorded,
    layers,
    faults,
    warnings,
    broken,
  });
  refuseChanges(environment, recorded, { layers, faults, broken });
  if (faults.length > 0) throw new EnvironmentError(name, faults);
  return environment;
}

/** The name is the stack's, the cluster's by default, and part of paths. */
function misnamed(name: string, known: readonly string[]): Fault {
  // Its file, as a shell completes it.
  const meant = /^(?:.*\/)?([^/]+)\.ya?ml$/.exec(name)?.[1];
  const isFile = meant !== undefined && environmentName.safeParse(meant).success;
  const position = { file: isFile ? name : environmentFile(name), line: 1, column: 1, text: "" };
  const letters = "a file name of lower-case letters, digits and hyphens that starts with a letter";
  const other = name === "base" ? "another name: base.yaml is merged under every environment" : letters;
  return {
    position,
    absent: true,
    path: "",
    found: `the environment name ${JSON.stringify(name)}`,
    expected: isFile ? "the name of an environment, not its file" : other,
    hint: isFile ? namesHint(meant, known) : "Correct the name, or rename the file.",
  };
}

/** Holds a cluster that is there, by its local state, against what the file now says of it. */
function refuseChanges(
  environment: Environment,
  recorded: RecordedFacts,
  { layers, faults, broken }: Omit<ReferenceContext, "read">,
): void {
  if (environment.backend.kind !== "local") return;
  const { name, kind, cluster } = environment;
  const never = "This cannot change while the cluster lives. Change it back, or destroy the cluster first.";
  const migrated = recorded.contract === cluster.previousContract;
  const changes = [
    // Machines of another kind cannot even be removed by what the file says.
    { path: ["infrastructure", "kind"], before: recorded.kind, now: kind, into: faults, hint: never },
    { path: ["cluster", "domain"], before: recorded.domain, now: cluster.domain, into: broken, hint: never },
    {
      path: ["cluster", "configContract"],
      before: migrated ? undefined : recorded.contract,
      now: cluster.configContract,
      into: broken,
      hint: contractHint(name, recorded.contract, cluster.configContract),
    },
  ];
  for (const { path, before, now, into, hint } of changes)
    if (before !== undefined && before !== now)
      into.push(layers.fault(path, { found: now, expected: `${before}, which the running cluster has`, hint }));
}

function contractHint(name: string, before: string | undefined, now: string): string {
  const isNewer = before !== undefined && isContract(now) && Contract.parse(before).compare(Contract.parse(now)) < 0;
  if (!isNewer) return `Set it to ${before}: there is no way back to an older contract.`;
  return `Set it to ${before}: an upgrade of Talos keeps it. To change it: talosmith config migrate ${name} --to ${now}`;
}

function missingHint(file: string, known: readonly string[]): string {
  const name = file.slice(`${folder}/`.length, -".yaml".length);
  const others = known.length === 0 ? "" : `${namesHint(name, known)} `;
  return `${others}A new one is written by: talosmith init ${name}`;
}

function openRoot(file: string, read: ReadFile, faults: Fault[]): YamlSource | undefined {
  const text = read(file);
  const missing = YamlSource.parse(file, "").start;
  if (text === undefined) {
    if (file !== environmentFile("base"))
      faults.push({
        position: missing,
        absent: true,
        path: "",
        found: "no such file",
        expected: "the file of this environment",
        hint: missingHint(file, read.environments?.() ?? []),
      });
    return undefined;
  }
  const source = YamlSource.parse(file, text);
  faults.push(...source.faults);
  if (source.isReadable && !isData(source.value))
    faults.push({
      position: source.start,
      path: "",
      found: formatFound(source.value),
      expected: "a mapping",
      hint: "Begin with cluster: or infrastructure:.",
    });
  return source;
}

/** A file that is not there has no say; one that cannot be read would hide what is wrong behind errors of its own. */
const isUsable = (source: YamlSource | undefined): boolean =>
  source === undefined || (source.isReadable && isData(source.value));

/** The environment that `controlPlaneRef: { environment: … }` of the last of these names. */
function joinedEnvironment(
  joining: readonly string[],
  data: Data,
  { read, layers, faults, options }: Omit<ReferenceContext, "broken"> & { readonly options: ParseOptions },
): Environment | undefined {
  const reference = data.controlPlaneRef;
  if (reference === undefined || typeof reference === "string") return undefined;
  const other = isData(reference) && Object.keys(reference).length === 1 ? reference.environment : undefined;
  const path = ["controlPlaneRef"];
  if (typeof other !== "string" || other === joining.at(-1)) {
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
    // One that is being read has no control plane: it joins another.
    const environment = joining.includes(other) ? undefined : parseJoining(other, read, joining, options);
    if (environment?.controlPlane !== undefined) return environment;
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
