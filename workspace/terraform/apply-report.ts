// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";

const resource = z.object({ addr: z.string() });
const message = z.discriminatedUnion("type", [
  z.object({ type: z.literal("apply_start"), hook: z.object({ resource, action: z.string() }) }),
  z.object({
    type: z.literal("apply_progress"),
    hook: z.object({ resource, action: z.string(), elapsed_seconds: z.number() }),
  }),
  z.object({
    type: z.literal("apply_complete"),
    hook: z.object({ resource, action: z.string(), elapsed_seconds: z.number() }),
  }),
  z.object({ type: z.literal("apply_errored"), hook: z.object({ resource, action: z.string() }) }),
  z.object({
    type: z.literal("diagnostic"),
    diagnostic: z.object({
      severity: z.string(),
      summary: z.string(),
      detail: z.string().optional(),
      address: z.string().optional(),
    }),
  }),
]);

const pastTense: Readonly<Record<string, string>> = {
  create: "created",
  update: "changed",
  delete: "destroyed",
  replace: "replaced",
};
const present: Readonly<Record<string, string>> = { create: "creating", update: "changing", delete: "destroying" };

/**
 * One line of `terraform apply -json` as a person wants to read it, or undefined where it says nothing new.
 * A line that is not terraform's JSON (a plugin's panic, say) is kept as it is. Of resources of which more is told
 * elsewhere, it is not told that they take time. Of a run that was stopped, its own words for that say nothing new.
 */
export function applyReportLine(
  line: string,
  isTold: (address: string) => boolean = () => false,
  isStopped = false,
): string | undefined {
  const parsed = message.safeParse(parseJson(line));
  if (!parsed.success) return isJsonObject(line) ? undefined : line;
  const { data } = parsed;
  switch (data.type) {
    case "apply_start":
      return undefined;
    case "apply_progress":
      if (isTold(data.hook.resource.addr)) return undefined;
      return `  … ${present[data.hook.action] ?? data.hook.action} ${data.hook.resource.addr} (${data.hook.elapsed_seconds} s)`;
    case "apply_complete":
      return `  ✓ ${data.hook.resource.addr} ${pastTense[data.hook.action] ?? data.hook.action}${seconds(data.hook.elapsed_seconds)}`;
    case "apply_errored":
      if (isStopped) return undefined;
      return `  ✗ ${data.hook.resource.addr} failed`;
    case "diagnostic": {
      const { severity, summary, detail, address } = data.diagnostic;
      if (isStopped && wordsForStopped.has(summary)) return undefined;
      const title = `${severity === "error" ? "Error" : "Warning"}: ${summary}${address ? ` (${address})` : ""}`;
      return detail ? `${title}\n  ${detail.replaceAll("\n", "\n  ")}` : title;
    }
  }
}

/** The provider's and terraform's own. */
const wordsForStopped: ReadonlySet<string> = new Set(["Stopped", "execution halted"]);

function seconds(elapsed: number): string {
  return elapsed < 1 ? "" : ` after ${elapsed} s`;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isJsonObject(line: string): boolean {
  return typeof parseJson(line) === "object";
}
