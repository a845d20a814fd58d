// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import type { ClusterConfig } from "../../../talos/config/index.ts";
import { parseSecrets, type SecretsBundle } from "../../../talos/secrets/index.ts";
import { Contract, TalosVersion } from "../../../talos/version/index.ts";

/** The fixed bundle of contract 1.13. */
export const secrets: SecretsBundle = parseSecrets(
  readFileSync(new URL("../../golden/secrets/secrets-v1.13.yaml", import.meta.url), "utf8"),
  "secrets-v1.13.yaml",
);

export const contracts: readonly string[] = Contract.all().map(String);

/** A cluster in the form of a contract, made with its newest release. */
export function clusterOf(contract: string, options: Partial<ClusterConfig> = {}): ClusterConfig {
  const talosVersion = TalosVersion.newestOf(Contract.parse(contract));
  return {
    clusterName: "demo",
    endpoint: "https://10.5.0.10:6443",
    talosVersion,
    kubernetesVersion: talosVersion.defaultKubernetesVersion,
    ...options,
  };
}
