// SPDX-License-Identifier: Apache-2.0
import { z } from "zod";
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

const machineTypes: Readonly<Record<string, Kind>> = {
  talosmith_simulated_machine: "simulated",
  libvirt_domain: "libvirt",
  aws_instance: "aws",
};

/** Reads a state file's text. A state that cannot be read tells nothing here: Terraform itself will say so. */
export function recordedFacts(text: string): RecordedFacts {
  const state = stateSchema.safeParse(parseJson(text));
  if (!state.success) return {};
  const managed = state.data.resources.filter(({ mode, instances }) => mode === "managed" && instances.length > 0);
  const kind = managed.map(({ type }) => machineTypes[type]).find((found) => found !== undefined);
  const cluster = managed.find(({ type }) => type === "talosmith_cluster")?.instances[0]?.attributes;
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
