// SPDX-License-Identifier: Apache-2.0
import { type Section, sectionAt } from "../document/value.ts";
import { type Faults, listOfErrors, quoted } from "./findings.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const reserved = ["talos.dev/owned-labels", "talos.dev/owned-annotations", "talos.dev/owned-taints"];
const annotationLimit = 256 * 1024;

const markKinds = [
  ["labels", labelFaults],
  ["annotations", annotationFaults],
  ["taints", taintFaults],
] as const;

/** What is wrong with the labels, annotations and taints of a node, which stand at these paths; a list for each. */
export function* markFaults(section: Section, paths: readonly string[], title: string): Faults {
  for (const [index, [kind, faultsOf]] of markKinds.entries()) {
    const faults = faultsOf(sectionAt(section, paths[index] ?? kind));
    if (faults.length > 0) yield `${title} ${kind}: ${listOfErrors(faults)}`;
  }
}

function labelFaults(labels: Section | undefined): readonly string[] {
  return entriesOf(labels).flatMap(([key, value]) => [...nameFaults(key), ...valueFaults(value)]);
}

function annotationFaults(annotations: Section | undefined): readonly string[] {
  const entries = entriesOf(annotations);
  const faults = entries.flatMap(([key]) =>
    reserved.includes(key) ? [...nameFaults(key), `annotation ${quoted(key)} is reserved`] : nameFaults(key),
  );
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return size > annotationLimit
    ? [...faults, `total annotation size exceeds limit of ${annotationLimit} bytes`]
    : faults;
}

function taintFaults(taints: Section | undefined): readonly string[] {
  return entriesOf(taints).flatMap(([key, taint]) => {
    const names = nameFaults(key);
    if (names.length > 0) return names;
    const colon = taint.indexOf(":");
    const effect = taint.slice(colon + 1);
    if (!effects.includes(effect)) return [`invalid taint effect: ${quoted(effect)}`];
    return colon < 0 ? [] : valueFaults(taint.slice(0, colon));
  });
}

/** Whether a name is one in Kubernetes's sense, with or without a domain before it. */
export function nameFaults(value: string): readonly string[] {
  const parts = value.split("/");
  const name = parts.at(-1) ?? "";
  if (parts.length > 2) return [`invalid format: too many slashes: ${quoted(value)}`];
  if (parts.length === 2) {
    const [prefix = ""] = parts;
    if (prefix === "") return [`prefix cannot be empty: ${quoted(value)}`];
    const fault = domainFault(prefix);
    if (fault !== undefined) return [`prefix ${quoted(prefix)} is invalid: ${fault}`];
  }
  if (name === "") return [`name cannot be empty: ${quoted(value)}`];
  if (name.length > 63) return [`name is too long: ${quoted(value)} (limit is 63)`];
  return isQualifiedName(name) ? [] : [`name ${quoted(name)} is invalid`];
}

export function domainFault(domain: string): string | undefined {
  if (domain.length > 253) return `domain name length exceeds limit of 253: ${quoted(domain)}`;
  const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
  if (new RegExp(`^${label}(\\.${label})*$`).test(domain)) return undefined;
  return `domain doesn't match required format: ${quoted(domain)}`;
}

function valueFaults(value: string): readonly string[] {
  if (value.length > 63) return [`label value length exceeds limit of 63: ${quoted(value)}`];
  return value === "" || isQualifiedName(value) ? [] : [`label value ${quoted(value)} is invalid`];
}

function isQualifiedName(text: string): boolean {
  return /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(text);
}

function entriesOf(section: Section | undefined): readonly (readonly [string, string])[] {
  const entries = [...(section ?? [])].map(([key, value]) => [key, String(value)] as const);
  return entries.sort(([left], [right]) => (left < right ? -1 : 1));
}
