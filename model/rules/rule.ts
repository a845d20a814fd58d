// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "../environment/environment.ts";
import type { Path } from "../environment/yaml-source.ts";

/** What is wrong with an environment whose every field is right by itself. */
export interface Violation {
  readonly severity: "error" | "warning";
  readonly path: Path;
  /** @default the value at the path, as it is written */
  readonly found?: string;
  readonly expected: string;
  readonly hint: string;
  /** A second place that has to do with it. */
  readonly also?: Path;
}

export type Rule = (environment: Environment) => readonly Violation[];

export function error(violation: Omit<Violation, "severity">): Violation {
  return { severity: "error", ...violation };
}

export function warning(violation: Omit<Violation, "severity">): Violation {
  return { severity: "warning", ...violation };
}
