// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from "node:crypto";
import type { Credentials } from "../../talos/api/index.ts";
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

export interface KubeconfigParts {
  readonly host: string;
  readonly caCertificate: string;
  readonly clientCertificate: string;
  readonly clientKey: string;
}

/** What a Kubernetes client needs, out of a kubeconfig with one cluster and one user, as Talos writes it. */
export function kubeconfigParts(kubeconfig: string): KubeconfigParts {
  const field = (name: string) => {
    const found = new RegExp(`^\\s*(?:- )?${name}:\\s*(\\S+)\\s*$`, "m").exec(kubeconfig)?.[1];
    if (found === undefined) throw new Error(`the kubeconfig has no ${name}`);
    return found;
  };
  const decoded = (name: string) => Buffer.from(field(name), "base64").toString("utf8");
  return {
    host: field("server"),
    caCertificate: decoded("certificate-authority-data"),
    clientCertificate: decoded("client-certificate-data"),
    clientKey: decoded("client-key-data"),
  };
}

/** When the first of these certificates expires, as RFC 3339. */
export function firstExpiry(certificates: readonly string[]): string {
  const times = certificates.map((pem) => Date.parse(new X509Certificate(pem).validTo));
  return new Date(Math.min(...times)).toISOString().replace(/\.\d+Z$/, "Z");
}
