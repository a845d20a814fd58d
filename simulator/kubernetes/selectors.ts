// SPDX-License-Identifier: Apache-2.0
import { type KubernetesObject, valueAt } from "../machine/world.ts";
import { type ApiResource, storageName } from "./api-resources.ts";
import { ApiError } from "./status.ts";

type Labels = Readonly<Record<string, string>>;

/** As objects carry it. */
export interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly Expression[];
}

interface Expression {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

export function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  const same = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return same && matchExpressions.every((expression) => holds(expression, labels));
}

function holds({ key, operator, values = [] }: Expression, labels: Labels): boolean {
  const held = labels[key];
  switch (operator) {
    case "Exists":
      return held !== undefined;
    case "DoesNotExist":
      return held === undefined;
    case "In":
      return held !== undefined && values.includes(held);
    case "NotIn":
      return held === undefined || !values.includes(held);
  }
}

type Test = (object: KubernetesObject) => boolean;

/** `a=b,c!=d,e in (f,g),!h`: what kubectl -l takes. */
export function labelSelector(text: string | null): Test {
  const tests = splitTerms(text ?? "").map(labelTerm);
  return (object) => tests.every((test) => test(object.metadata.labels ?? {}));
}

function splitTerms(text: string): string[] {
  return text.split(/,(?![^(]*\))/).filter((term) => term.trim() !== "");
}

function labelTerm(term: string): (labels: Readonly<Record<string, string>>) => boolean {
  const set = /^\s*(\S+)\s+(in|notin)\s+\(([^)]*)\)\s*$/.exec(term);
  if (set !== null) {
    const [, key = "", operator, list = ""] = set;
    const values = list.split(",").map((value) => value.trim());
    return (labels) => {
      const held = labels[key];
      return operator === "in"
        ? held !== undefined && values.includes(held)
        : held === undefined || !values.includes(held);
    };
  }
  const [, key = "", operator, value = ""] = /^\s*([^=!]+?)\s*(==|=|!=)\s*(.*?)\s*$/.exec(term) ?? [];
  if (!/^\s*!?[\w./-]+\s*$/.test(operator === undefined ? term : key) || !/^[\w.-]*$/.test(value))
    throw new ApiError("BadRequest", `unable to parse requirement: ${term}`);
  if (operator === "!=") return (labels) => labels[key] !== value;
  if (operator !== undefined) return (labels) => labels[key] === value;
  const name = term.trim();
  return name.startsWith("!")
    ? (labels) => labels[name.slice(1)] === undefined
    : (labels) => labels[name] !== undefined;
}

/** What can be selected by, beside name and namespace, by storage name. */
const selectable: Readonly<Record<string, readonly string[]>> = {
  pods: [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
  ],
  nodes: ["spec.unschedulable"],
  namespaces: ["status.phase"],
  secrets: ["type"],
  services: ["spec.clusterIP", "spec.type"],
  replicationcontrollers: ["status.replicas"],
  "replicasets.apps": ["status.replicas"],
  "jobs.batch": ["status.successful"],
  "certificatesigningrequests.certificates.k8s.io": ["spec.signerName"],
};
const ofEvents =
  /^(involvedObject\.(kind|namespace|name|uid|apiVersion|resourceVersion|fieldPath)|reason|reportingComponent|source|type)$/;

/** Kinds with fields of their own have other words for it. */
function unknownFieldLabel(resource: ApiResource, path: string): string {
  const hasOwn = selectable[storageName(resource)] !== undefined || resource.kind === "Event";
  if (hasOwn) return `field label not supported: ${path}`;
  return `"${path}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** `metadata.name=x,spec.nodeName=y`: paths into the object, as far as they are among those of its kind. */
export function fieldSelector(resource: ApiResource, text: string | null): Test {
  const known = ["metadata.name", "metadata.namespace", ...(selectable[storageName(resource)] ?? [])];
  const tests = splitTerms(text ?? "").map((term) => {
    const [, path = "", operator = "=", value = ""] = /^([^=!]+)(==|=|!=)(.*)$/.exec(term) ?? [];
    if (path === "") throw new ApiError("BadRequest", `invalid selector: '${text}'; can't understand '${term}'`);
    if (!known.includes(path) && !(resource.kind === "Event" && ofEvents.test(path)))
      throw new ApiError("BadRequest", unknownFieldLabel(resource, path));
    return (object: KubernetesObject): boolean => {
      const same = String(valueAt(object, path.split(".")) ?? "") === value;
      return operator === "!=" ? !same : same;
    };
  });
  return (object) => tests.every((test) => test(object));
}
