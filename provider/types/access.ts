// SPDX-License-Identifier: Apache-2.0
import type { Credentials } from "../../talos/api/index.ts";
import { expiryOf } from "../../talos/client-file.ts";
import type { Role } from "../../talos/config/index.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import { DiagnosticError } from "../framework/index.ts";

export interface TalosconfigRequest {
  readonly clusterName: string;
  readonly endpoints: readonly string[];
  readonly nodes: readonly string[];
  readonly roles?: readonly Role[];
  /** Milliseconds. */
  readonly ttl?: number;
}

/** A talosconfig with fresh credentials, and the credentials by themselves. */
export async function issueTalosconfig(
  secrets: SecretsBundle,
  request: TalosconfigRequest,
): Promise<{ readonly text: string; readonly credentials: Credentials }> {
  const [{ encodeTalosconfig, generateTalosconfig }, { systemClock, systemEntropy }] = await Promise.all([
    import("../../talos/config/index.ts"),
    import("../../talos/clock.ts"),
  ]);
  const config = generateTalosconfig(secrets, { ...request, clock: systemClock, entropy: systemEntropy });
  const credentials = config.contexts.get(request.clusterName)?.credentials;
  if (credentials === undefined) throw new Error("a talosconfig was made without credentials");
  return { text: encodeTalosconfig(config), credentials };
}

/** The admin kubeconfig, from the first control plane that gives it out. */
export async function fetchKubeconfig(
  endpoints: readonly string[],
  credentials: Credentials,
  signal: AbortSignal,
): Promise<string> {
  const { connect } = await import("../../talos/api/index.ts");
  const failures: unknown[] = [];
  for (const endpoint of endpoints) {
    const client = connect(endpoint, { kind: "mtls", credentials });
    try {
      return await client.kubeconfig({ signal });
    } catch (error) {
      if (signal.aborted) throw error;
      failures.push(error);
    } finally {
      client.close();
    }
  }
  throw failures[0] ?? new DiagnosticError({ summary: "No endpoint", detail: "endpoints is empty." });
}

/** When the first of these certificates expires, as RFC 3339. */
export function firstExpiry(certificates: readonly string[]): string {
  const times = certificates.map((pem) => expiryOf(pem).getTime());
  return new Date(Math.min(...times)).toISOString().replace(/\.\d+Z$/, "Z");
}
