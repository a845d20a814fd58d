// SPDX-License-Identifier: Apache-2.0
import { unknownKind } from "./schema.ts";

/** Fields that must never be shown, by type. A field that holds a section is hidden as a whole. */
export const secretFields: Readonly<Record<string, readonly string[]>> = {
  "block.EncryptionKeyStatic": ["passphrase"],
  "cluster.DiscoveryIdentityConfigV1Alpha1": ["clusterSecret"],
  "container.ContainerConfigV1Alpha1": ["environment"],
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

/** Whole files and manifests: not shown either, for they may hold a secret anywhere; most of them hold none. */
export const contentFields: Readonly<Record<string, readonly string[]>> = {
  "k8s.KubeInlineManifestConfigV1Alpha1": ["manifest"],
  "v1alpha1.ClusterInlineManifest": ["contents"],
  "v1alpha1.MachineFile": ["content"],
};

/** Whether what a field holds must not be shown. Of a kind that is not known, that is everything but what names it. */
export function isHiddenField(struct: string, key: string): boolean {
  if (struct === unknownKind) return !["apiVersion", "kind", "name"].includes(key);
  return isSecretField(struct, key) || (contentFields[struct]?.includes(key) ?? false);
}

/** Environment variables by name: any of them may be a token. */
export const variableFields: Readonly<Record<string, readonly string[]>> = {
  "k8s.KubeAPIServerConfigV1Alpha1": ["env"],
  "k8s.KubeControllerManagerConfigV1Alpha1": ["env"],
  "k8s.KubeSchedulerConfigV1Alpha1": ["env"],
  "runtime.EnvironmentV1Alpha1": ["variables"],
  "v1alpha1.APIServerConfig": ["env"],
  "v1alpha1.ControllerManagerConfig": ["env"],
  "v1alpha1.MachineConfig": ["env"],
  "v1alpha1.SchedulerConfig": ["env"],
};

export function isVariablesField(struct: string, key: string): boolean {
  return variableFields[struct]?.includes(key) ?? false;
}

const secretName = /token|passw|secret|credential|api-?_?key|private-?_?key|auth-?_?key/i;

/** Whether an argument, an annotation or another entry that is named freely says by its name that it is a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

const harmlessVariable = /^(?:(?:https?|no)_proxy|grpc_go_log_\w+|go(?:debug|gc|maxprocs|memlimit)|tz)$/i;

/** Whether a variable is known to hold no secret, but for the password of a proxy's URL. */
export function isHarmlessVariable(name: string): boolean {
  return harmlessVariable.test(name);
}

const hiddenNames: ReadonlySet<string> = new Set(
  [secretFields, contentFields, variableFields].flatMap((fields) => Object.values(fields).flat()),
);

/** Whether a field of this name is hidden in any type. */
export function isHiddenName(key: string): boolean {
  return hiddenNames.has(key);
}
