// SPDX-License-Identifier: Apache-2.0
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
  const { withTemporaryFolder } = await import("../../../talos/process-folder.ts");
  const secrets = await client.secrets.of(null);
  const request = { clusterName: "addon", endpoints, nodes: endpoints, ttl: 3_600_000 };
  const { credentials } = await issueTalosconfig(secrets, request);
  const kubeconfig = await fetchKubeconfig(endpoints, credentials, signal);
  return withTemporaryFolder("kubeconfig", async (folder) => {
    await writeFileAtomically(join(folder, "kubeconfig"), kubeconfig);
    return work(join(folder, "kubeconfig"));
  });
}
