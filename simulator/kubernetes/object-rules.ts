// SPDX-License-Identifier: Apache-2.0
import { type Tree, tree } from "../machine/world.ts";
import type { ApiResource } from "./api-resources.ts";
import { detailsOf } from "./request.ts";
import { ApiError } from "./status.ts";
import type { NewObject } from "./store.ts";

/** What the server says of an object that is understood and wrong all the same. */
export interface Fault {
  readonly field: string;
  readonly message: string;
  readonly reason: string;
}

export const required = (field: string, hint = ""): Fault => ({
  field,
  message: hint === "" ? "Required value" : `Required value: ${hint}`,
  reason: "FieldValueRequired",
});
/** @param value as JSON */
export const invalid = (field: string, value: string, hint: string): Fault => ({
  field,
  message: `Invalid value: ${value}: ${hint}`,
  reason: "FieldValueInvalid",
});
export const forbidden = (field: string, hint: string): Fault => ({
  field,
  message: `Forbidden: ${hint}`,
  reason: "FieldValueForbidden",
});
export const unsupported = (field: string, value: unknown, allowed: readonly string[]): Fault => ({
  field,
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${allowed.map((each) => JSON.stringify(each)).join(", ")}`,
  reason: "FieldValueNotSupported",
});
const duplicate = (field: string, value: string): Fault => ({
  field,
  message: `Duplicate value: ${JSON.stringify(value)}`,
  reason: "FieldValueDuplicate",
});

/** 422 with all faults; nothing where there is none. */
export function refuse(
  resource: Pick<ApiResource, "group" | "kind" | "name">,
  name: string,
  faults: readonly Fault[],
): void {
  if (faults.length === 0) return;
  const causes = faults.map(({ field, message, reason }) => ({ reason, message, field }));
  const list = faults.map(({ field, message }) => `${field}: ${message}`);
  const said = list.length === 1 ? list[0] : `[${list.join(", ")}]`;
  const subject = resource.group === "" ? resource.kind : `${resource.kind}.${resource.group}`;
  const details = { ...detailsOf(resource, name === "" ? undefined : name), kind: resource.kind, causes };
  throw new ApiError("Invalid", `${subject} "${name}" is invalid: ${said}`, details);
}

/** All faults of a new object. Kinds that are not mentioned here have none. */
export function faultsOf(object: NewObject): readonly Fault[] {
  return [...nameFaults(object), ...labelFaults(object), ...specFaults(object)];
}

interface NameRule {
  readonly pattern: RegExp;
  readonly words: string;
  readonly longest: number;
}
const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const nameRule = (kind: string, pattern: string, longest: number, words: string, examples: string): NameRule => ({
  pattern: new RegExp(`^${pattern}$`),
  longest,
  words: `${kind} must consist of ${words} (e.g. ${examples}, regex used for validation is '${pattern}')`,
});
const subdomain = nameRule(
  "a lowercase RFC 1123 subdomain",
  `${label}(\\.${label})*`,
  253,
  "lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  "'example.com'",
);
const hostLabel = nameRule(
  "a lowercase RFC 1123 label",
  label,
  63,
  "lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  "'my-name',  or '123-abc'",
);
/** Others, such as roles, take more. */
const names: Readonly<Record<string, NameRule>> = {
  ...Object.fromEntries(
    [
      ...["Pod", "ConfigMap", "Secret", "ServiceAccount", "Node", "Lease", "Deployment", "DaemonSet", "StatefulSet"],
      ...["ReplicaSet", "Job", "PodDisruptionBudget"],
    ].map((kind) => [kind, subdomain]),
  ),
  Namespace: hostLabel,
  Service: hostLabel,
};

/** The first thing that is wrong with a name of one part. */
const brokenWords = (rule: NameRule, name: string) =>
  rule === hostLabel && name.includes(".") ? "must not contain dots" : rule.words;

const broken = ({ pattern, longest }: NameRule, name: string) => !pattern.test(name) || name.length > longest;

function nameFaults({ kind, metadata: { name } }: NewObject): readonly Fault[] {
  const rule = names[kind];
  if (rule === undefined || !broken(rule, name)) return [];
  return [invalid("metadata.name", JSON.stringify(name), brokenWords(rule, name))];
}

const labelValue = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";

function labelFaults({ metadata }: NewObject): readonly Fault[] {
  const bad = Object.values(metadata.labels ?? {}).filter((value) => !new RegExp(`^${labelValue}$`).test(value));
  const words = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${labelValue}')`;
  return bad.map((value) => invalid("metadata.labels", JSON.stringify(value), words));
}

function specFaults({ kind, metadata, spec: given }: NewObject): readonly Fault[] {
  const spec = tree(given);
  switch (kind) {
    case "Pod":
      return podFaults(spec, "spec");
    case "Deployment":
    case "ReplicaSet":
    case "DaemonSet":
    case "StatefulSet":
      return workloadFaults(spec);
    case "Service":
      return serviceFaults(spec);
    case "Job":
      return jobFaults(spec);
    case "Lease":
      return leaseFaults(spec);
    case "PodDisruptionBudget":
      return budgetFaults(spec);
    case "CustomResourceDefinition":
      return definitionFaults(metadata.name, spec);
    default:
      return [];
  }
}

const restartPolicies = ["Always", "OnFailure", "Never"];

function podFaults({ containers, restartPolicy, volumes }: Tree, path: string): readonly Fault[] {
  const policy =
    restartPolicy === undefined || restartPolicies.includes(String(restartPolicy))
      ? []
      : [unsupported(`${path}.restartPolicy`, restartPolicy, restartPolicies)];
  if (!Array.isArray(containers) || containers.length === 0) return [required(`${path}.containers`), ...policy];
  const all = containers as readonly Tree[];
  const named = new Set(Array.isArray(volumes) ? (volumes as readonly Tree[]).map(({ name }) => name) : []);
  return [...all.flatMap((container, index) => containerFaults(container, index, all, path, named)), ...policy];
}

function containerFaults(
  container: Tree,
  index: number,
  all: readonly Tree[],
  path: string,
  volumes: ReadonlySet<unknown>,
): readonly Fault[] {
  const { name, image, volumeMounts } = container;
  const own = `${path}.containers[${index}]`;
  const faults: Fault[] = [];
  if (typeof name !== "string" || name === "") faults.push(required(`${own}.name`));
  else if (broken(hostLabel, name)) faults.push(invalid(`${own}.name`, JSON.stringify(name), hostLabel.words));
  else if (all.findIndex((other) => other.name === name) < index) faults.push(duplicate(`${own}.name`, name));
  if (typeof image !== "string" || image === "") faults.push(required(`${own}.image`));
  for (const [number, mount] of (Array.isArray(volumeMounts) ? (volumeMounts as readonly Tree[]) : []).entries())
    if (!volumes.has(mount.name))
      faults.push({
        field: `${own}.volumeMounts[${number}].name`,
        message: `Not found: ${JSON.stringify(mount.name)}`,
        reason: "FieldValueNotFound",
      });
  return faults;
}

function workloadFaults({ replicas, selector, template, volumeClaimTemplates }: Tree): readonly Fault[] {
  const { metadata, spec } = tree(template);
  const faults: Fault[] = [];
  if (typeof replicas === "number" && replicas < 0)
    faults.push(invalid("spec.replicas", String(replicas), "must be greater than or equal to 0"));
  const wanted = Object.entries(tree(tree(selector).matchLabels));
  const labels = tree(tree(metadata).labels);
  if (selector === undefined || selector === null) faults.push(required("spec.selector"));
  if (selector === undefined || selector === null || wanted.some(([key, value]) => labels[key] !== value))
    faults.push(
      invalid(
        "spec.template.metadata.labels",
        JSON.stringify(tree(metadata).labels ?? null),
        "`selector` does not match template `labels`",
      ),
    );
  const claims = Array.isArray(volumeClaimTemplates) ? (volumeClaimTemplates as readonly Tree[]) : [];
  const { volumes, ...pod } = tree(spec);
  const own = Array.isArray(volumes) ? (volumes as readonly Tree[]) : [];
  const all = [...own, ...claims.map((claim) => tree(claim.metadata))];
  return [...faults, ...podFaults({ ...pod, volumes: all }, "spec.template.spec")];
}

function serviceFaults({ type, ports, clusterIP }: Tree): readonly Fault[] {
  const optional = type === "ExternalName" || clusterIP === "None";
  const all = Array.isArray(ports) ? (ports as readonly Tree[]) : [];
  if (all.length === 0) return optional ? [] : [required("spec.ports")];
  return all.flatMap(({ nodePort }, index) =>
    typeof nodePort === "number" && nodePort !== 0 && (nodePort < 30_000 || nodePort > 32_767)
      ? [invalid(`spec.ports[${index}].nodePort`, String(nodePort), "provided port is not in the valid range")]
      : [],
  );
}

function jobFaults({ template }: Tree): readonly Fault[] {
  const { spec } = tree(template);
  const { restartPolicy } = tree(spec);
  const policies = ["OnFailure", "Never"];
  return policies.includes(String(restartPolicy))
    ? podFaults(tree(spec), "spec.template.spec")
    : [unsupported("spec.template.spec.restartPolicy", restartPolicy ?? "Always", policies)];
}

function leaseFaults({ leaseDurationSeconds }: Tree): readonly Fault[] {
  if (typeof leaseDurationSeconds !== "number" || leaseDurationSeconds > 0) return [];
  return [invalid("spec.leaseDurationSeconds", String(leaseDurationSeconds), "must be greater than 0")];
}

function budgetFaults({ minAvailable, maxUnavailable, ...rest }: Tree): readonly Fault[] {
  if (minAvailable === undefined || maxUnavailable === undefined) return [];
  const spec = JSON.stringify({ minAvailable, maxUnavailable, ...rest });
  return [invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")];
}

function definitionFaults(name: string, { group, names: own }: Tree): readonly Fault[] {
  const expected = `${String(tree(own).plural)}.${String(group)}`;
  return name === expected
    ? []
    : [invalid("metadata.name", JSON.stringify(name), `must be spec.names.plural+"."+spec.group`)];
}
