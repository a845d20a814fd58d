// SPDX-License-Identifier: Apache-2.0
import { filled } from "../../given.ts";
import { type KeyPair, toBase64 } from "../../pki/index.ts";
import { compareKeys, type YamlValue } from "../../yaml/index.ts";
import type { MachineConfigInput, ResolvedCluster } from "../cluster-config.ts";

/** A document or section, in the order in which it is written. */
export type Section = { readonly [key: string]: YamlValue | undefined };

export const excludeFromLoadBalancers = "node.kubernetes.io/exclude-from-external-load-balancers";
export const controlPlaneRole = "node-role.kubernetes.io/control-plane";

/** A certificate and key as the v1alpha1 document holds them: base64 of PEM. Without a key the field stays, empty. */
export function encodedPair(pair: KeyPair, options: { readonly withKey: boolean }): Section {
  return { crt: toBase64(pair.certificate), key: options.withKey ? toBase64(pair.key) : "" };
}

/** Certificates without keys, in the same form; undefined when there are none, so that the field is left out. */
export function encodedCertificates(certificates: readonly string[]): readonly YamlValue[] | undefined {
  return filled(certificates.map((certificate) => ({ crt: toBase64(certificate) })));
}

/** A map with its keys in Go's order; undefined when it is empty, so that it is left out. */
export function sortedMap<Value extends YamlValue>(
  values: Readonly<Record<string, Value | undefined>>,
): Readonly<Record<string, Value>> | undefined {
  const entries = Object.entries(values).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  entries.sort(([left], [right]) => compareKeys(left, right));
  return filled(Object.fromEntries(entries));
}

/** Flags of the kubelet; undefined when there are none. */
export function kubeletArguments({ providerId }: MachineConfigInput): Section | undefined {
  return providerId === undefined ? undefined : { "provider-id": providerId };
}

/** Where every contract has it; undefined when it is off. */
export function externalCloudProviderSection({ externalCloudProvider }: ResolvedCluster): Section | undefined {
  return externalCloudProvider ? { enabled: true } : undefined;
}

/** A document of its own. */
export function document(kind: string, fields: Section): Section {
  return { apiVersion: "v1alpha1", kind, ...fields };
}

export const podSecurityConfiguration: Section = {
  apiVersion: "pod-security.admission.config.k8s.io/v1alpha1",
  defaults: {
    audit: "restricted",
    "audit-version": "latest",
    enforce: "baseline",
    "enforce-version": "latest",
    warn: "restricted",
    "warn-version": "latest",
  },
  exemptions: { namespaces: ["kube-system"], runtimeClasses: [], usernames: [] },
  kind: "PodSecurityConfiguration",
};

export const auditPolicy: Section = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  rules: [{ level: "Metadata" }],
};
