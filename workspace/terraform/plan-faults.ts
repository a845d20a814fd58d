// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";

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
