// SPDX-License-Identifier: Apache-2.0
import type { Clock, Entropy } from "../../clock.ts";
import { TalosError } from "../../errors.ts";
import { issueCertificate, type KeyPair } from "../../pki/index.ts";
import { type SecretsBundle, trustedCas } from "../../secrets/index.ts";
import { defaultLifetime } from "./lifetime.ts";
import type { Role } from "./roles.ts";
import type { TalosContext, Talosconfig } from "./talosconfig.ts";

export interface CredentialsOptions {
  /** @default os:admin */
  readonly roles?: readonly Role[];
  /** How long the certificate is valid, in milliseconds. @default 8760 hours */
  readonly ttl?: number;
  readonly clock: Clock;
  readonly entropy: Entropy;
}

/** A client certificate of the Talos API. Its roles are its organizations; apid wants client use and nothing else. */
export function issueAdminCredentials(secrets: SecretsBundle, options: CredentialsOptions): KeyPair {
  const ttl = options.ttl ?? defaultLifetime;
  if (!(ttl > 0)) throw new TalosError("invalid-input", "crt_ttl should be positive");
  const now = options.clock.now();
  return issueCertificate(
    secrets.certs.os,
    {
      subject: { organizations: [...(options.roles ?? ["os:admin"])].sort() },
      notBefore: now,
      notAfter: new Date(now.getTime() + ttl),
      usages: ["clientAuth"],
    },
    { entropy: options.entropy },
  );
}

export interface TalosconfigOptions extends CredentialsOptions {
  readonly clusterName: string;
  readonly endpoints: readonly string[];
  readonly nodes?: readonly string[];
}

/** A talosconfig with one context, named after the cluster, and fresh credentials. */
export function generateTalosconfig(secrets: SecretsBundle, options: TalosconfigOptions): Talosconfig {
  const pair = issueAdminCredentials(secrets, options);
  const context: TalosContext = {
    endpoints: options.endpoints,
    nodes: options.nodes,
    credentials: { ca: trustedCas(secrets, "os"), certificate: pair.certificate, key: pair.key },
  };
  return { context: options.clusterName, contexts: new Map([[options.clusterName, context]]) };
}
