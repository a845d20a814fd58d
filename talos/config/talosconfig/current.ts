// SPDX-License-Identifier: Apache-2.0
import { endsSoon, expiryOf, isOfCas, kubeconfigParts } from "../../client-file.ts";
import { type SecretsBundle, trustedCas } from "../../secrets/index.ts";
import { parseTalosconfig } from "./codec.ts";

/** Where a talosconfig connects to, and which machines its commands are about by default. */
export interface TalosAccess {
  readonly endpoints: readonly string[];
  readonly nodes: readonly string[];
}

/** The one rule for the talosconfig of a cluster: all control planes, or what forwards calls to them; all machines. */
export function talosAccess(cluster: {
  readonly talosEndpoints?: readonly string[] | undefined;
  readonly machines: readonly { readonly role: string; readonly address: string }[];
}): TalosAccess {
  const controlPlanes = cluster.machines.filter(({ role }) => role === "controlplane");
  return {
    endpoints: cluster.talosEndpoints ?? controlPlanes.map(({ address }) => address),
    nodes: cluster.machines.map(({ address }) => address),
  };
}

/** Whether a talosconfig gives access to these machines of this cluster, for long enough. The order does not matter. */
export function talosconfigIsCurrent(
  text: string,
  { clusterName, endpoints, nodes }: TalosAccess & { readonly clusterName: string },
  secrets: SecretsBundle,
  now: Date,
): boolean {
  try {
    const { context, contexts } = parseTalosconfig(text, "talosconfig");
    const own = contexts.get(clusterName);
    if (context !== clusterName || own?.credentials === undefined) return false;
    const same = isSameSet(own.endpoints, endpoints) && isSameSet(own.nodes ?? own.endpoints, nodes);
    const ours = isOfCas(own.credentials, secrets.certs.os.certificate, trustedCas(secrets, "os"));
    return same && ours && !endsSoon(expiryOf(own.credentials.certificate), now);
  } catch {
    return false; // Not a talosconfig.
  }
}

/** Whether a kubeconfig is one of this cluster, for long enough. */
export function kubeconfigIsCurrent(text: string, secrets: SecretsBundle, now: Date): boolean {
  try {
    const { caCertificate: ca, clientCertificate: certificate } = kubeconfigParts(text);
    const ours = isOfCas({ ca, certificate }, secrets.certs.k8s.certificate, trustedCas(secrets, "k8s"));
    return ours && !endsSoon(expiryOf(certificate), now);
  } catch {
    return false; // Not a kubeconfig as Talos writes it.
  }
}

function isSameSet(left: readonly string[], right: readonly string[]): boolean {
  return [...left].sort().join() === [...right].sort().join();
}
