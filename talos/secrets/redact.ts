// SPDX-License-Identifier: Apache-2.0
import { stringifyYaml } from "../yaml/index.ts";
import { caFingerprint, type SecretsBundle } from "./bundle.ts";

const redacted = "******";

/** What may be shown of a bundle: its form, its cluster's id and its certificates; every secret is replaced. */
export function redactSecrets(bundle: SecretsBundle): string {
  const { certs } = bundle;
  const pair = ({ certificate }: { readonly certificate: string }) => ({
    crt: Buffer.from(certificate, "utf8").toString("base64"),
    key: redacted,
  });
  return stringifyYaml({
    cluster: { id: bundle.cluster.id, secret: redacted },
    secrets: {
      bootstraptoken: redacted,
      aescbcencryptionsecret: bundle.secrets.aescbcEncryptionSecret === undefined ? undefined : redacted,
      secretboxencryptionsecret: bundle.secrets.secretboxEncryptionSecret === undefined ? undefined : redacted,
    },
    trustdinfo: { token: redacted },
    certs: {
      etcd: pair(certs.etcd),
      k8s: pair(certs.k8s),
      k8saggregator: pair(certs.k8sAggregator),
      k8sserviceaccount: { key: redacted },
      os: pair(certs.os),
    },
    fingerprint: caFingerprint(bundle),
  });
}
