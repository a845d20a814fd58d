// SPDX-License-Identifier: Apache-2.0

import { stripVTControlCharacters } from "node:util";
import * as z from "zod";

/** The warnings of a plan stand below its verdict; above it are those about terraform's own settings. */
const verdict = /^(?:No changes\.|Plan: |Changes to Outputs:)/m;
const title = /^(?:╷\n│ )?Warning: /m;
const notLookedAt = /^(?:│ )?Warning: .* could not be (?:looked at|asked|compared)/m;

/** What `terraform plan` warns of, in its own words without colours; empty when it warns of nothing. */
export function warningsIn(text: string): string {
  const plain = stripVTControlCharacters(text);
  const said = plain.slice(Math.max(0, plain.search(verdict)));
  const start = said.search(title);
  return start < 0 ? "" : `${said.slice(start).trimEnd()}\n`;
}

/** Those of the machines that our provider could not look at; undefined when it has seen all there is. */
export function unseenIn(warnings: string, machines: readonly string[]): readonly string[] | undefined {
  if (!notLookedAt.test(warnings)) return undefined;
  const lines = warnings.split("\n").map((line) => line.replace(/^│ /, ""));
  return machines.filter((name) => lines.some((line) => line.startsWith(`${name}: `)));
}

const fault = z.object({
  type: z.literal("diagnostic"),
  diagnostic: z.object({ severity: z.literal("error"), address: z.string().optional() }),
});

/** True when `terraform plan -json` failed, and nobody but our clusters had something against the plan. */
export function onlyClustersRefused(report: string): boolean {
  const faults = report.split("\n").flatMap((line) => {
    const parsed = fault.safeParse(parseJson(line));
    return parsed.success ? [parsed.data.diagnostic] : [];
  });
  return faults.length > 0 && faults.every(({ address = "" }) => /^(?:.*\.)?talosmith_cluster\./.test(address));
}

/** Terraform's JSON may have lines before it that are none. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
