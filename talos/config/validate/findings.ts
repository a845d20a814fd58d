// SPDX-License-Identifier: Apache-2.0
import { type Section, sectionAt, textAt } from "../document/value.ts";

/** What is wrong, in Talos's words. */
export type Faults = Iterable<string>;

/** The same, and what is only advised against. */
export type Findings = Iterable<string | { readonly warning: string }>;

/** Checks one document beside the v1alpha1 one. */
export type Check = (document: Section) => Findings;

/** Checks by kind. A kind that is not listed has no rules beyond its schema. */
export type Checks = Readonly<Record<string, Check>>;

export function sortFindings(found: Findings): { readonly errors: string[]; readonly warnings: string[] } {
  const errors: string[] = [];
  const warnings: string[] = [];
  for (const finding of found) {
    if (typeof finding === "string") errors.push(finding);
    else warnings.push(finding.warning);
  }
  return { errors, warnings };
}

/** One check after the other. */
export function every(...checks: readonly Check[]): Check {
  return function* (document) {
    for (const check of checks) yield* check(document);
  };
}

/** What to say of each text that is not set, by its path. */
export function* unset(section: Section | undefined, messages: Readonly<Record<string, string>>): Faults {
  for (const [path, message] of Object.entries(messages)) if (textAt(section, path) === "") yield message;
}

/** The same as a check. */
export function requires(messages: Readonly<Record<string, string>>): Check {
  return (document) => unset(document, messages);
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
