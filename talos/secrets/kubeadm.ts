// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { TalosError } from "../errors.ts";
import { fileError } from "../file-error.ts";
import { belongTogether, checkKey, type KeyPair, loadCertificate } from "../pki/index.ts";
import type { SecretsBundle } from "./bundle.ts";
import { type GenerateOptions, generateSecrets } from "./generate.ts";

/**
 * Makes a bundle from the PKI directory of a kubeadm cluster (usually /etc/kubernetes/pki), so that Talos machines can
 * join it. What kubeadm does not have is generated. The bootstrap token is the one of the running cluster.
 */
export async function importKubeadmPki(
  directory: string,
  bootstrapToken: string | undefined,
  options: GenerateOptions,
): Promise<SecretsBundle> {
  const pair = async (name: string): Promise<KeyPair> => {
    const certificatePath = join(directory, `${name}.crt`);
    const keyPath = join(directory, `${name}.key`);
    const [certificate, key] = await Promise.all([readPki(certificatePath), readPki(keyPath)]);
    loadCertificate(certificate, certificatePath);
    checkKey(key, keyPath);
    if (!belongTogether({ certificate, key })) {
      throw new TalosError("invalid-input", `${keyPath} is not the key of ${certificatePath}`, {
        hint: "Copy both files from the same control plane.",
      });
    }
    return { certificate, key };
  };
  const [k8s, etcd, k8sAggregator] = await Promise.all([pair("ca"), pair("etcd/ca"), pair("front-proxy-ca")]);
  const serviceAccountPath = join(directory, "sa.key");
  const serviceAccount = await readPki(serviceAccountPath);
  checkKey(serviceAccount, serviceAccountPath);
  return await generateSecrets(options, {
    bootstrapToken: bootstrapToken || undefined,
    certs: { k8s, etcd, k8sAggregator, k8sServiceAccount: { key: serviceAccount } },
  });
}

async function readPki(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const hint = "The directory must hold ca, front-proxy-ca and etcd/ca as .crt and .key, and sa.key.";
    throw fileError("open", path, cause, hint);
  }
}
