// SPDX-License-Identifier: Apache-2.0
import { type KeyPair, publicKeyFingerprint } from "../pki/index.ts";

/** Everything secret that all machine configs of one cluster are made from. Certificates and keys are PEM texts. */
export interface SecretsBundle {
  readonly cluster: { readonly id: string; readonly secret: string };
  readonly secrets: {
    readonly bootstrapToken: string;
    /** Exactly one of the two encryption secrets is set; new bundles have the secretbox one. */
    readonly secretboxEncryptionSecret?: string;
    readonly aescbcEncryptionSecret?: string;
  };
  readonly trustdInfo: { readonly token: string };
  readonly certs: {
    readonly etcd: KeyPair;
    readonly k8s: KeyPair;
    readonly k8sAggregator: KeyPair;
    readonly k8sServiceAccount: { readonly key: string };
    readonly os: KeyPair;
  };
  /** Present while CAs are being exchanged for new ones. */
  readonly rotation?: CaRotation | undefined;
  /** Fingerprints of the Talos API CAs by which the cluster was known before. */
  readonly formerCas?: readonly string[] | undefined;
}

/**
 * How far an exchange of CAs is. `accept`: the new ones, which are here, are accepted beside those that issue. `issue`:
 * the new ones issue, and the old ones, which are here now, are still accepted. `drop`: the old ones are not any more.
 */
export interface CaRotation {
  readonly phase: "accept" | "issue" | "drop";
  readonly os?: KeyPair | undefined;
  readonly k8s?: KeyPair | undefined;
}

export type RotatedCa = "os" | "k8s";

/** Certificates of CAs that are accepted beside the one that issues. */
export function acceptedCas({ rotation }: SecretsBundle, ca: RotatedCa): readonly string[] {
  const other = rotation?.phase === "drop" ? undefined : rotation?.[ca];
  return other === undefined ? [] : [other.certificate];
}

/** All that a client should trust, PEM: the CA that issues first. */
export function trustedCas(bundle: SecretsBundle, ca: RotatedCa): string {
  return [bundle.certs[ca].certificate, ...acceptedCas(bundle, ca)].join("");
}

/** Which cluster a bundle belongs to, safe to show: the fingerprint of the Talos API CA. */
export function caFingerprint(bundle: SecretsBundle): string {
  return publicKeyFingerprint(bundle.certs.os.certificate);
}

/** All fingerprints that the cluster may be known by: that of its CA now, of the next one and of former ones. */
export function knownFingerprints(bundle: SecretsBundle): readonly string[] {
  const others = acceptedCas(bundle, "os").map((certificate) => publicKeyFingerprint(certificate));
  return [...new Set([caFingerprint(bundle), ...others, ...(bundle.formerCas ?? [])])];
}
