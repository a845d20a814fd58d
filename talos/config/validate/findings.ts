// SPDX-License-Identifier: Apache-2.0

/** What checks collect: everything that is wrong, and what is only advised against. */
export interface Findings {
  readonly errors: string[];
  readonly warnings: string[];
}

export function noFindings(): Findings {
  return { errors: [], warnings: [] };
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
