// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { given } from "../given.ts";
import { encodeSecrets, parseSecrets, type SecretsBundle } from "../secrets/index.ts";
import { type ConfigDocument, parseConfig } from "./document/config-file.ts";
import { isSection, type Section, sectionsAt, textAt, valueAt } from "./document/value.ts";

/**
 * Takes the secrets bundle out of the config of a control plane, of whichever contract. Throws when the config is that
 * of a worker, which does not have them all, and when a part is missing or damaged.
 */
export function secretsFromConfig(text: string, fileName: string): SecretsBundle {
  const documents = parseConfig(text, fileName);
  const v1alpha1 = sectionOf(documents, "v1alpha1");
  const type = textAt(v1alpha1, "machine.type");
  if (type !== "controlplane" && type !== "init") {
    const found = type === "" ? "no machine type" : `machine type ${JSON.stringify(type)}`;
    throw new TalosError("invalid-input", `${fileName}: found ${found}, expected the config of a control plane`, {
      hint: "Take the config from a control plane: talosctl get machineconfig v1alpha1 -o jsonpath='{.spec}'",
    });
  }
  const bundle: SecretsBundle = {
    cluster: identity(documents, v1alpha1),
    secrets: { bootstrapToken: textAt(v1alpha1, "cluster.token"), ...encryptionSecrets(documents, v1alpha1) },
    trustdInfo: { token: textAt(v1alpha1, "machine.token") },
    certs: {
      etcd: legacyPair(v1alpha1, "cluster.etcd.ca"),
      k8s: pair(documents, v1alpha1, "cluster.ca", "KubeAPIServerCAConfig"),
      k8sAggregator: pair(documents, v1alpha1, "cluster.aggregatorCA", "KubeAggregatorCAConfig"),
      k8sServiceAccount: { key: serviceAccountKey(documents, v1alpha1) },
      os: legacyPair(v1alpha1, "machine.ca"),
    },
  };
  // The same checks, and the same words, as for a bundle from a file.
  return parseSecrets(encodeSecrets(bundle), fileName);
}

function sectionOf(documents: readonly ConfigDocument[], kind: string): Section | undefined {
  return documents.find((document) => document.kind === kind)?.section;
}

function identity(documents: readonly ConfigDocument[], v1alpha1: Section | undefined): SecretsBundle["cluster"] {
  const document = sectionOf(documents, "DiscoveryIdentityConfig");
  return {
    id: textAt(v1alpha1, "cluster.id") || textAt(document, "clusterID"),
    secret: textAt(v1alpha1, "cluster.secret") || textAt(document, "clusterSecret"),
  };
}

function legacyPair(v1alpha1: Section | undefined, path: string): { certificate: string; key: string } {
  return { certificate: fromBase64(textAt(v1alpha1, `${path}.crt`)), key: fromBase64(textAt(v1alpha1, `${path}.key`)) };
}

function pair(
  documents: readonly ConfigDocument[],
  v1alpha1: Section | undefined,
  path: string,
  kind: string,
): { certificate: string; key: string } {
  const document = sectionOf(documents, kind);
  if (document === undefined) return legacyPair(v1alpha1, path);
  return { certificate: textAt(document, "issuingCA.cert"), key: textAt(document, "issuingCA.key") };
}

function serviceAccountKey(documents: readonly ConfigDocument[], v1alpha1: Section | undefined): string {
  const legacy = textAt(v1alpha1, "cluster.serviceAccount.key");
  if (legacy !== "") return fromBase64(legacy);
  return textAt(sectionOf(documents, "KubeServiceAccountConfig"), "issuer.privateKey");
}

function encryptionSecrets(
  documents: readonly ConfigDocument[],
  v1alpha1: Section | undefined,
): Pick<SecretsBundle["secrets"], "secretboxEncryptionSecret" | "aescbcEncryptionSecret"> {
  const document = sectionOf(documents, "KubeEtcdEncryptionConfig");
  const secretbox = textAt(v1alpha1, "cluster.secretboxEncryptionSecret") || providerSecret(document, "secretbox");
  const aescbc = textAt(v1alpha1, "cluster.aescbcEncryptionSecret") || providerSecret(document, "aescbc");
  return given({ secretboxEncryptionSecret: secretbox || undefined, aescbcEncryptionSecret: aescbc || undefined });
}

/** The first key of an encryption provider, in Kubernetes's own configuration format. */
function providerSecret(document: Section | undefined, provider: string): string {
  for (const resource of sectionsAt(document, "config.resources")) {
    for (const entry of sectionsAt(resource, "providers")) {
      const keys = valueAt(entry, `${provider}.keys`);
      const first = Array.isArray(keys) ? keys[0] : undefined;
      if (isSection(first)) return textAt(first, "secret");
    }
  }
  return "";
}

function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}
