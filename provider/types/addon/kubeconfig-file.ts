// SPDX-License-Identifier: Apache-2.0
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchKubeconfig, issueTalosconfig } from "../access.ts";
import type { Client } from "../client.ts";

/** Lends an admin kubeconfig as a file for its owner alone, and takes it away whatever happens. */
export async function withKubeconfig<T>(
  client: Client,
  endpoints: readonly string[],
  signal: AbortSignal,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const { writeFileAtomically } = await import("../../../talos/atomic-file.ts");
  const secrets = await client.secrets.of(null);
  const request = { clusterName: "addon", endpoints, nodes: endpoints, ttl: 3_600_000 };
  const { credentials } = await issueTalosconfig(secrets, request);
  const kubeconfig = await fetchKubeconfig(endpoints, credentials, signal);
  const folder = await mkdtemp(join(tmpdir(), "talosmith-kubeconfig-"));
  try {
    await writeFileAtomically(join(folder, "kubeconfig"), kubeconfig);
    return await work(join(folder, "kubeconfig"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
