// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import type { Kind } from "./schema/index.ts";

/** What a Terraform state tells of an environment that must not change while the cluster lives. */
export interface RecordedFacts {
  readonly kind?: Kind;
  readonly domain?: string;
}

const stateSchema = z.object({
  resources: z.array(
    z.object({
      type: z.string(),
      mode: z.string(),
      instances: z.array(z.object({ attributes: z.unknown() })).default([]),
    }),
  ),
});

/** What only stacks of one kind hold, by the beginning of its type's name. */
const marks: readonly (readonly [string, Kind])[] = [
  ["talosmith_simulated_machine", "simulated"],
  ["libvirt_", "libvirt"],
  ["aws_", "aws"],
  ["docker_", "container"],
  ["kubernetes_stateful_set", "container"],
];

/** Reads a state file's text. A state that cannot be read tells nothing here: Terraform itself will say so. */
export function recordedFacts(text: string): RecordedFacts {
  const state = stateSchema.safeParse(parseJson(text));
  if (!state.success) return {};
  const managed = state.data.resources.filter(({ mode, instances }) => mode === "managed" && instances.length > 0);
  const cluster = managed.find(({ type }) => type === "talosmith_cluster")?.instances[0]?.attributes;
  const marked = marks.find(([start]) => managed.some(({ type }) => type.startsWith(start)))?.[1];
  // A cluster on machines that Terraform did not make.
  const kind = marked ?? (cluster === undefined ? undefined : "metal");
  const domain = z.object({ dns_domain: z.string().nullish() }).safeParse(cluster);
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(domain.success ? { domain: domain.data.dns_domain ?? "cluster.local" } : {}),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
