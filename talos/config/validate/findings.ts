// SPDX-License-Identifier: Apache-2.0
import { type Section, sectionAt, textAt } from "../document/value.ts";
import type { ConfigRules } from "../rules.ts";

/** Something that a machine would refuse, or advises against. */
export interface Finding {
  readonly severity: "error" | "warning";
  /** `v1alpha1`, or the kind and name of the document, `LinkConfig/eth0`; empty for what only all together show. */
  readonly document: string;
  /** Of the field in the document, `machine.kubelet`; empty where the message is about the document as a whole. */
  readonly path: string;
  /** In the words of Talos, without the document. */
  readonly message: string;
  /** Of a conflict: the other place that says the same. */
  readonly conflictsWith?: Pick<Finding, "document" | "path">;
}

/** What is wrong, in the words of Talos. */
export type Faults = Iterable<string>;

/** The same, where known with the path of the field, and what is only advised against. */
export type Findings = Iterable<Told>;
export type Told =
  | string
  | { readonly error: string; readonly path: string }
  | { readonly warning: string; readonly path?: string };

/** Checks one document beside the v1alpha1 one. */
export type Check = (document: Section, rules: ConfigRules) => Findings;

/** Checks by kind. A kind that is not listed has no rules beyond its schema. */
export type Checks = Readonly<Record<string, Check>>;

/** What a check said of a document. */
export function findingsOf(document: string, told: Findings): readonly Finding[] {
  return [...told].map((one) => {
    if (typeof one === "string") return { severity: "error", document, path: "", message: one };
    const path = one.path ?? "";
    return "error" in one
      ? { severity: "error", document, path, message: one.error }
      : { severity: "warning", document, path, message: one.warning };
  });
}

/** One check after the other. */
export function every(...checks: readonly Check[]): Check {
  return function* (document, rules) {
    for (const check of checks) yield* check(document, rules);
  };
}

/** What to say of each text that is not set, by its path. */
export function* unset(section: Section | undefined, messages: Readonly<Record<string, string>>, at = ""): Findings {
  for (const [path, error] of Object.entries(messages))
    if (textAt(section, path) === "") yield { error, path: `${at}${path}` };
}

/** The same as a check. */
export function requires(messages: Readonly<Record<string, string>>): (document: Section) => Findings {
  return (document) => unset(document, messages);
}

/** The same faults, each at a path. */
export function* at(path: string, faults: Faults): Findings {
  for (const error of faults) yield { error, path };
}

/** Whether a section is there that says something. */
export function isFilled(document: Section, path: string): boolean {
  return (sectionAt(document, path)?.size ?? 0) > 0;
}

/** A fault, where there is one, behind what it is about. */
export function* about(subject: string, fault: string | undefined): Faults {
  if (fault !== undefined) yield `${subject}: ${fault}`;
}

/** The list form in which Talos tells several errors at once; it ends with an empty line. */
export function listOfErrors(errors: readonly string[]): string {
  const head = errors.length === 1 ? "1 error occurred:" : `${errors.length} errors occurred:`;
  return `${head}\n\t${errors.map((error) => `* ${error}`).join("\n\t")}\n\n`;
}

/** Text in Go's quotes. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}
