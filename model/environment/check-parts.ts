// SPDX-License-Identifier: Apache-2.0
// The rules of an environment for settings that are in no file: those of constructs.
import * as z from "zod";
import { TalosVersion } from "../../talos/version/index.ts";
import { type Data, dataAt, isData } from "../../talos/yaml/index.ts";
import {
  clusterRules,
  commonRules,
  infrastructureRulesFor,
  type Rule,
  rulesFor,
  type Violation,
  violationsOf,
} from "../rules/index.ts";
import { type Kind, kinds, sections } from "../schema/index.ts";
import { issuesOf } from "./check.ts";
import type { Environment } from "./environment.ts";
import { formatFound, formatPath } from "./path.ts";
import { unwrapped } from "./schema-places.ts";
import type { Path } from "./yaml-source.ts";

/** Parts of an environment; amounts may be numbers. */
export interface EnvironmentParts {
  readonly kind: Kind;
  readonly infrastructure?: object;
  readonly cluster?: object;
  readonly controlPlane?: object;
  readonly workers?: readonly object[];
}

export interface PartFault {
  /** From the environment's root. */
  readonly path: Path;
  /** One sentence without its full stop. */
  readonly message: string;
}

/**
 * What is wrong with parts of an environment: each value by the schema, then by the rules. `complete`: all parts are
 * there, and are held against each other. Values that `isOpen` says are known later are not judged.
 */
export function partFaults(
  parts: EnvironmentParts,
  complete: boolean,
  isOpen: (value: unknown) => boolean,
): readonly PartFault[] {
  const { kind } = parts;
  const schema = kinds[kind];
  const infrastructure = fill(schema.infrastructure, { kind, ...parts.infrastructure });
  const cluster = fill(sections.cluster, parts.cluster ?? {});
  const controlPlane = fill(schema.controlPlane, parts.controlPlane ?? {});
  const workers = (parts.workers ?? []).map((pool) => fill(schema.worker, pool));
  const data = {
    infrastructure: infrastructure.given,
    cluster: cluster.given,
    controlPlane: controlPlane.given,
    workers: workers.map(({ given }) => given),
  };
  const values = [
    ...at(["infrastructure"], parts.infrastructure && infrastructure.issues),
    ...at(["cluster"], parts.cluster && cluster.issues),
    ...at(["controlPlane"], controlPlane.issues),
    ...workers.flatMap(({ issues }, index) => at(["workers", index], issues)),
  ].filter(({ path, expected }) => !holdsOpen(dataAt(data, path), isOpen) && !isAmount(dataAt(data, path), expected));
  if (values.length > 0)
    return values.map(({ path, expected }) => ({
      path,
      message: `${inside(path)} is ${formatFound(dataAt(data, path))}; expected ${expected}`,
    }));
  const { talosVersion } = cluster.whole as { readonly talosVersion: string };
  const kubernetesVersion = TalosVersion.parse(talosVersion).defaultKubernetesVersion;
  const environment = {
    ...neutral,
    // Constructs have it apart from the infrastructure, which may have a bucket for it.
    ...(kind === "aws" ? { backup: { keep: {} } } : {}),
    kind,
    cluster: { kubernetesVersion, ...cluster.whole },
    infrastructure: infrastructure.whole,
    ...(parts.controlPlane === undefined && complete ? joined : { controlPlane: controlPlane.whole }),
    workers: workers.map(({ whole }) => whole),
  } as unknown as Environment;
  return violationsOf(environment, rulesOf(parts, complete))
    .filter(({ severity }) => severity === "error")
    .filter(({ path, also = path }) => ![path, also].some((place) => holdsOpen(dataAt(data, place), isOpen)))
    .map((violation) => ({ path: violation.path, message: sentence(violation, data) }));
}

/** What the schema has against an add-on or a backup, one sentence each; see partFaults. */
export function sectionFaults(
  section: "addons" | "backup",
  props: object,
  isOpen: (value: unknown) => boolean,
): readonly string[] {
  const given = withoutAbsent(props);
  const isList = section === "addons";
  return issuesOf(sections[section], isList ? [given] : given)
    .map(({ path, expected }) => ({ path: isList ? path.slice(1) : path, expected }))
    .filter(({ path, expected }) => !holdsOpen(dataAt(given, path), isOpen) && !isAmount(dataAt(given, path), expected))
    .map(({ path, expected }) => {
      const found = path.length === 0 ? "" : `${formatPath(path)} is ${formatFound(dataAt(given, path))}; `;
      return `${found}expected ${expected}`;
    });
}

function rulesOf({ kind, infrastructure }: EnvironmentParts, complete: boolean): readonly Rule[] {
  if (complete) return rulesFor(kind);
  if (infrastructure !== undefined) return infrastructureRulesFor(kind);
  return [...Object.values(clusterRules), commonRules.supportedKubernetes];
}

/** Sections that constructs do not have, so that no rule has anything to say of them. */
const neutral = {
  name: "",
  file: "",
  secrets: { file: "" },
  backend: { kind: "s3" },
  outputs: { kubeconfig: false, talosconfig: false },
  addons: [],
  storage: {},
  rollout: {},
  warnings: [],
};

/** Workers whose control plane another stack has. */
const joined = { joins: { name: "another stack", file: "that stack" } };

/** What the schema has against it, and the whole of it with defaults. */
function fill(schema: z.ZodType, props: object) {
  const keys = schema instanceof z.ZodObject ? new Set(Object.keys(schema.shape)) : new Set<string>();
  const entries = Object.entries(withoutAbsent(props) as Data).filter(([key]) => keys.has(key));
  const given: Data = Object.fromEntries(entries);
  return { given, issues: issuesOf(schema, given), whole: withDefaults(schema, given) as Data };
}

/** Amounts become numbers, as the rules have them. Other values stay as they are, also those that the schema would refuse. */
function withDefaults(schema: z.ZodType, value: unknown): unknown {
  if (value === undefined) return schema.safeParse(undefined).data;
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodPipe && typeof value === "string") return inner.safeParse(value).data ?? value;
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return value.map((item) => withDefaults((inner as z.ZodArray<z.ZodType>).element, item));
  if (!isData(value)) return value;
  const fields: Readonly<Record<string, z.ZodType>> =
    inner instanceof z.ZodObject
      ? inner.shape
      : inner instanceof z.ZodRecord
        ? Object.fromEntries(Object.keys(value).map((key) => [key, (inner as z.ZodRecord).valueType as z.ZodType]))
        : {};
  const filled = Object.entries(fields).map(([key, field]) => [key, withDefaults(field, value[key])] as const);
  return { ...value, ...Object.fromEntries(filled.filter(([, found]) => found !== undefined)) };
}

/** What is left out may be written as undefined, which would take a default away. */
function withoutAbsent(value: unknown): unknown {
  if (!isData(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutAbsent(inner)]));
}

function at(base: Path, issues: ReturnType<typeof issuesOf> = []) {
  return issues.map(({ path, expected }) => ({ path: [...base, ...path], expected }));
}

/** Constructs have sizes and durations as numbers, files as text. */
function isAmount(value: unknown, expected: string): boolean {
  return typeof value === "number" && /^a (size|duration)/.test(expected);
}

function holdsOpen(value: unknown, isOpen: (value: unknown) => boolean): boolean {
  if (isOpen(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some((inner) => holdsOpen(inner, isOpen));
}

function sentence({ path, found, expected, hint }: Violation, data: unknown): string {
  const place = inside(path);
  const what = found === undefined ? `is ${formatFound(dataAt(data, path))}` : `found ${found}`;
  const start = place === "" ? what : found === undefined ? `${place} ${what}` : `${place}: ${what}`;
  return `${start}; expected ${expected}. ${hint.replace(/\.$/, "")}`;
}

/** Without the section, which is the construct that is named. */
function inside(path: Path): string {
  return formatPath(path.slice(path[0] === "workers" ? 2 : 1));
}
