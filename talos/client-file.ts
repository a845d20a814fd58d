// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from "node:crypto";
import { TalosError } from "./errors.ts";

/** Client files are renewed when they have less left than this: early enough that a yearly routine is in time. */
export const renewBefore = 30 * 86_400_000;

export function endsSoon(expiresAt: Date, now: Date): boolean {
  return expiresAt.getTime() - now.getTime() < renewBefore;
}

export interface KubeconfigParts {
  readonly host: string;
  readonly caCertificate: string;
  readonly clientCertificate: string;
  readonly clientKey: string;
}

/** What a Kubernetes client needs, out of a kubeconfig with one cluster and one user, as Talos writes it. Throws else. */
export function kubeconfigParts(kubeconfig: string): KubeconfigParts {
  const field = (name: string) => {
    const found = new RegExp(`^\\s*(?:- )?${name}:\\s*(\\S+)\\s*$`, "m").exec(kubeconfig)?.[1];
    if (found === undefined)
      throw new TalosError("invalid-input", `the kubeconfig has no ${name}`, {
        hint: "Expected one with one cluster and one user, as Talos writes it: talosctl kubeconfig <file>",
      });
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

/** What a client file proves itself with, and whom it trusts; PEM texts. */
export interface ClientIdentity {
  readonly ca: string;
  readonly certificate: string;
}

export function expiryOf(certificate: string): Date {
  return new Date(read(certificate).validTo);
}

/** Whether a file is of the CAs that a cluster has now, which may have been exchanged: `issuer` issues, all are trusted. */
export function isOfCas({ ca, certificate }: ClientIdentity, issuer: string, trusted: string): boolean {
  const issued = read(certificate).verify(read(issuer).publicKey);
  return issued && fingerprints(ca).join() === fingerprints(trusted).join();
}

/** Fingerprints of all certificates in a PEM text, sorted, so that their order in the text does not matter. */
function fingerprints(pem: string): readonly string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => read(block).fingerprint256).sort();
}

function read(certificate: string): X509Certificate {
  try {
    return new X509Certificate(certificate);
  } catch (cause) {
    throw new TalosError("invalid-input", "the client file holds a certificate that cannot be read", { cause });
  }
}
