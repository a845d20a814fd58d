// SPDX-License-Identifier: Apache-2.0
import { writeFile } from "node:fs/promises";
import { etcdSource } from "../../engine/backup/index.ts";
import type { DesiredCluster } from "../../engine/index.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { issueAdminCredentials } from "../../talos/config/index.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";

/** Saves etcd of a running cluster to a file, from where backups take it. Returns the address that it came from. */
export function saveSnapshot({ machines }: DesiredCluster, secrets: SecretsBundle, path: string): Promise<string> {
  const pair = issueAdminCredentials(secrets, { clock: systemClock, entropy: systemEntropy, ttl: 3_600_000 });
  const controlPlanes = machines.filter(({ role }) => role === "controlplane").map(({ address }) => address);
  const source = etcdSource(controlPlanes, { ca: secrets.certs.os.certificate, ...pair });
  return source.take(async (endpoint, chunks) => {
    await writeFile(path, chunks, { mode: 0o600 });
    return endpoint;
  });
}
