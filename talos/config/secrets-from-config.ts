// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { given, isGiven } from "../given.ts";
import { fromBase64, type KeyPair } from "../pki/index.ts";
import { encodeSecrets, parseSecrets, type SecretsBundle } from "../secrets/index.ts";
import { parseConfig } from "./document/config-file.ts";
import { sectionsAt, textAt } from "./document/value.ts";
import { ConfigView } from "./machine-facts.ts";

/**
 * Takes the secrets bundle out of the config of a control plane, of whichever contract. Throws when the config is that
 * of a worker, which does not have them all, and when a part is missing or damaged.
 */
export function secretsFromConfig(text: string, fileName: string): SecretsBundle {
  const view = new ConfigView(parseConfig(text, fileName));
  const type = view.text("machine.type");
  if (type !== "controlplane" && type !== "init") {
    const found = type === undefined ? "no machine type" : `machine type ${JSON.stringify(type)}`;
    throw new TalosError("invalid-input", `${fileName}: found ${found}, expected the config of a control plane`, {
      hint: "Take the config from a control plane: talosctl get machineconfig v1alpha1 -o jsonpath='{.spec}'",
    });
  }
  const first = (...paths: readonly string[]) => paths.map((path) => view.text(path)).find(isGiven) ?? "";
  const encoded = (path: string) => fromBase64(first(path));
  const legacyPair = (path: string): KeyPair => ({ certificate: encoded(`${path}.crt`), key: encoded(`${path}.key`) });
  const pair = (path: string, kind: string): KeyPair =>
    view.hasDocument(kind)
      ? { certificate: first(`${kind}:issuingCA.cert`), key: first(`${kind}:issuingCA.key`) }
      : legacyPair(path);
  const encryptionSecret = (provider: string) =>
    view.text(`cluster.${provider}EncryptionSecret`) ?? providerSecret(view, provider);
  const bundle: SecretsBundle = {
    cluster: {
      id: first("cluster.id", "DiscoveryIdentityConfig:clusterID"),
      secret: first("cluster.secret", "DiscoveryIdentityConfig:clusterSecret"),
    },
    secrets: given({
      bootstrapToken: first("cluster.token"),
      secretboxEncryptionSecret: encryptionSecret("secretbox"),
      aescbcEncryptionSecret: encryptionSecret("aescbc"),
    }),
    trustdInfo: { token: first("machine.token") },
    certs: {
      etcd: legacyPair("cluster.etcd.ca"),
      k8s: pair("cluster.ca", "KubeAPIServerCAConfig"),
      k8sAggregator: pair("cluster.aggregatorCA", "KubeAggregatorCAConfig"),
      k8sServiceAccount: {
        key: encoded("cluster.serviceAccount.key") || first("KubeServiceAccountConfig:issuer.privateKey"),
      },
      os: legacyPair("machine.ca"),
    },
  };
  // The same checks, and the same words, as for a bundle from a file.
  return parseSecrets(encodeSecrets(bundle), fileName);
}

/** The first key of an encryption provider, in Kubernetes's own configuration format. */
function providerSecret(view: ConfigView, provider: string): string | undefined {
  const providers = view
    .sections("KubeEtcdEncryptionConfig:config.resources")
    .flatMap((resource) => sectionsAt(resource, "providers"));
  const [key] = providers.flatMap((entry) => sectionsAt(entry, `${provider}.keys`));
  return textAt(key, "secret") || undefined;
}
