// SPDX-License-Identifier: Apache-2.0

/** Client certificate and the CA of the machines, all PEM texts. */
export interface Credentials {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/**
 * How a machine and we know each other. `mtls`: both show certificates of the cluster's Talos CA. `maintenance`: the
 * machine has no config yet; it is known by the fingerprint of its certificate, or, only where the caller says so, by
 * nothing (the fingerprint it showed can be read from the client afterwards).
 */
export type Authentication =
  | { readonly kind: "mtls"; readonly credentials: Credentials }
  | { readonly kind: "maintenance"; readonly fingerprints: readonly string[] }
  /** Exactly this certificate, PEM, as `probe` has seen it. */
  | { readonly kind: "maintenance"; readonly certificate: string }
  | { readonly kind: "maintenance"; readonly trustOnFirstUse: true };
