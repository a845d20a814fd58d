// SPDX-License-Identifier: Apache-2.0
import type { Clock, Entropy } from "../../clock.ts";
import { TalosError } from "../../errors.ts";
import { backdated, issueCertificate, type KeyPair, loadCertificate } from "../../pki/index.ts";
import { type SecretsBundle, trustedCas } from "../../secrets/index.ts";
import { parseGoDuration } from "../document/go-duration.ts";
import { knownRoles, type Role, type TalosContext, type Talosconfig } from "./talosconfig.ts";

/** In milliseconds: one year, as talosctl has it. */
const defaultLifetime = 8760 * 3_600_000;

/** Reads a lifetime such as `8760h` or `30m` into milliseconds. Throws when it is no duration or not positive. */
export function parseLifetime(text: string): number {
  const nanoseconds = parseGoDuration(text);
  if (nanoseconds === undefined || nanoseconds <= 0n) {
    throw new TalosError("invalid-input", `found ${JSON.stringify(text)}, expected a positive duration`, {
      hint: 'Write it with units, such as "8760h" or "30m".',
    });
  }
  return Number(nanoseconds / 1_000_000n);
}

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
      notBefore: backdated(now),
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

/** What the client certificate of a context allows, and until when. */
export interface CertificateInfo {
  readonly roles: readonly Role[];
  readonly notAfter: Date;
}

/** Undefined when the context has no certificate. Throws when it cannot be read. */
export function certificateInfo(context: TalosContext): CertificateInfo | undefined {
  const pem = context.credentials?.certificate ?? context.incomplete?.certificate;
  if (pem === undefined) return undefined;
  const certificate = loadCertificate(pem);
  // One organization is a text, several are a list.
  const organizations: unknown = certificate.toLegacyObject().subject.O ?? [];
  return { roles: knownRoles([organizations].flat().map(String)), notAfter: new Date(certificate.validTo) };
}
