// SPDX-License-Identifier: Apache-2.0

/** Fields that must never be shown, by type. A field that holds a section is hidden as a whole. */
export const secretFields: Readonly<Record<string, readonly string[]>> = {
  "block.EncryptionKeyStatic": ["passphrase"],
  "cluster.DiscoveryIdentityConfigV1Alpha1": ["clusterSecret"],
  "cri.RegistryAuthConfigV1Alpha1": ["password", "auth", "identityToken"],
  "extensions.ConfigFile": ["content"],
  "extensions.ServiceConfigV1Alpha1": ["environment"],
  "k8s.IssuerServiceAccountConfig": ["privateKey"],
  "k8s.KubeEtcdEncryptionConfigV1Alpha1": ["config"],
  "k8s.KubeExternalManifestConfigV1Alpha1": ["headers"],
  "meta.CertificateAndKey": ["key"],
  "network.HCloudVIPConfigV1Alpha1": ["apiToken"],
  "network.WireguardConfigV1Alpha1": ["privateKey"],
  "network.WireguardPeer": ["presharedKey"],
  "siderolink.ConfigV1Alpha1": ["apiUrl", "uniqueToken"],
  "v1alpha1.ClusterConfig": [
    "secret",
    "token",
    "aescbcEncryptionSecret",
    "secretboxEncryptionSecret",
    "extraManifestHeaders",
  ],
  "v1alpha1.DeviceWireguardConfig": ["privateKey"],
  "v1alpha1.EncryptionKeyStatic": ["passphrase"],
  "v1alpha1.MachineConfig": ["token"],
  "v1alpha1.RegistryAuthConfig": ["password", "auth", "identityToken"],
  "v1alpha1.VIPEquinixMetalConfig": ["apiToken"],
  "v1alpha1.VIPHCloudConfig": ["apiToken"],
  "x509.key": ["key"],
  "x509.pair": ["key"],
};

export function isSecretField(struct: string, key: string): boolean {
  return secretFields[struct]?.includes(key) ?? false;
}

const secretNames: ReadonlySet<string> = new Set(Object.values(secretFields).flat());

/** Whether a field of this name is a secret in any type. */
export function isSecretName(key: string): boolean {
  return secretNames.has(key);
}
