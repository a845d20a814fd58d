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
}

/** Which cluster a bundle belongs to, safe to show: the fingerprint of the Talos API CA. */
export function caFingerprint(bundle: SecretsBundle): string {
  return publicKeyFingerprint(bundle.certs.os.certificate);
}
