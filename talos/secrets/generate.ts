// SPDX-License-Identifier: Apache-2.0
import type { Clock, Entropy } from "../clock.ts";
import { TalosError } from "../errors.ts";
import { createCertificateAuthority, createRsaKey, type KeyPair } from "../pki/index.ts";
import type { Contract } from "../version/index.ts";
import type { RotatedCa, SecretsBundle } from "./bundle.ts";

export interface GenerateOptions {
  readonly contract: Contract;
  readonly clock: Clock;
  readonly entropy: Entropy;
}

/** What an existing cluster brings along; the rest of its bundle is generated. */
export interface KnownSecrets {
  readonly bootstrapToken?: string | undefined;
  readonly certs?: Partial<Omit<SecretsBundle["certs"], "os">>;
}

/** Makes a new bundle. Slow (the RSA key takes up to seconds) but without holding up the event loop. */
export async function generateSecrets(options: GenerateOptions, known: KnownSecrets = {}): Promise<SecretsBundle> {
  const { contract, clock, entropy } = options;
  if (known.bootstrapToken !== undefined) checkToken(known.bootstrapToken);
  const ecdsaAuthority = (organization?: string) =>
    createCertificateAuthority({ organization, kind: "ecdsa-p256", clock, entropy });
  const serviceAccount = known.certs?.k8sServiceAccount ?? { key: await createRsaKey() };
  return {
    cluster: {
      id: base64(entropy(32), contract.urlSafeClusterId),
      secret: base64(entropy(32)),
    },
    secrets: {
      bootstrapToken: known.bootstrapToken ?? createToken(entropy),
      secretboxEncryptionSecret: base64(entropy(32)),
    },
    trustdInfo: { token: createToken(entropy) },
    certs: {
      etcd: known.certs?.etcd ?? ecdsaAuthority("etcd"),
      k8s: known.certs?.k8s ?? createCa("k8s", options),
      k8sAggregator: known.certs?.k8sAggregator ?? ecdsaAuthority(),
      k8sServiceAccount: serviceAccount,
      os: createCa("os", options),
    },
  };
}

/** A bundle for configs that no real machine gets, such as those of a plan or a rehearsal: its RSA key is short, and made in a tenth of the time. */
export async function generateThrowawaySecrets(options: GenerateOptions): Promise<SecretsBundle> {
  return generateSecrets(options, { certs: { k8sServiceAccount: { key: await createRsaKey(2048) } } });
}

/** A CA of the Talos or of the Kubernetes API, as Talos makes it. */
export function createCa(ca: RotatedCa, { clock, entropy }: Pick<GenerateOptions, "clock" | "entropy">): KeyPair {
  return ca === "os"
    ? createCertificateAuthority({ organization: "talos", kind: "ed25519", clock, entropy })
    : createCertificateAuthority({ organization: "kubernetes", kind: "ecdsa-p256", clock, entropy });
}

/** Throws, without repeating the token, when it has not the form that kubelets and the API server take. */
function checkToken(token: string): void {
  if (/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(token)) return;
  throw new TalosError("invalid-input", "the bootstrap token has the wrong form", {
    hint: "Expected 6 and 16 lower-case letters or digits with a dot between: see `kubeadm token list`.",
  });
}

const tokenAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";

/** A token of the form `abcdef.0123456789abcdef`, every character equally likely. */
export function createToken(entropy: Entropy): string {
  const characters = (count: number): string => {
    let text = "";
    while (text.length < count) {
      for (const byte of entropy(count - text.length)) {
        // Bytes beyond the last whole multiple of 36 would favour some characters.
        if (byte < 252) text += tokenAlphabet[byte % 36];
      }
    }
    return text;
  };
  return `${characters(6)}.${characters(16)}`;
}

/** URL-safe in the alphabet only: the padding stays, unlike in node's own base64url. */
function base64(bytes: Uint8Array, urlSafe = false): string {
  const text = Buffer.from(bytes).toString("base64");
  return urlSafe ? text.replaceAll("+", "-").replaceAll("/", "_") : text;
}
