// SPDX-License-Identifier: Apache-2.0
import { type ClientIdentity, endsSoon, expiryOf, isOfCas, kubeconfigParts } from "../../client-file.ts";
import { type SecretsBundle, trustedCas } from "../../secrets/index.ts";
import { parseTalosconfig } from "./codec.ts";

/** The files that give access to a cluster. */
export type ClientFile = "kubeconfig" | "talosconfig";

/** What a file proves itself with; undefined where it is not as Talos or we write it, or holds no certificate. */
export function clientIdentity(file: ClientFile, text: string): ClientIdentity | undefined {
  try {
    if (file === "talosconfig") {
      const { context, contexts } = parseTalosconfig(text, file);
      return contexts.get(context)?.credentials;
    }
    const { caCertificate: ca, clientCertificate: certificate } = kubeconfigParts(text);
    return { ca, certificate };
  } catch {
    return undefined;
  }
}

/** Which files give access to these machines of this cluster, for long enough. The others are to be written again. */
export function currentClientFiles(
  texts: Readonly<Record<ClientFile, string | undefined>>,
  access: TalosAccess & { readonly clusterName: string },
  secrets: SecretsBundle,
  now: Date,
): Readonly<Record<ClientFile, boolean>> {
  return {
    kubeconfig: kubeconfigIsCurrent(texts.kubeconfig ?? "", secrets, now),
    talosconfig: talosconfigIsCurrent(texts.talosconfig ?? "", access, secrets, now),
  };
}

/** Where a talosconfig connects to, and which machines its commands are about by default. */
export interface TalosAccess {
  readonly endpoints: readonly string[];
  readonly nodes: readonly string[];
}

/**
 * The one rule for the talosconfig of a cluster: it connects to all control planes, or to what forwards calls to them, and
 * is about the first one. `talosctl health`, `kubeconfig` and `bootstrap` refuse a context with several nodes.
 */
export function talosAccess(cluster: {
  readonly talosEndpoints?: readonly string[] | undefined;
  readonly machines: readonly { readonly name: string; readonly role: string; readonly address: string }[];
}): TalosAccess {
  const controlPlanes = cluster.machines
    .filter(({ role }) => role === "controlplane")
    // As Terraform sorts them, so that both write the same file.
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .map(({ address }) => address);
  return { endpoints: cluster.talosEndpoints ?? controlPlanes, nodes: controlPlanes.slice(0, 1) };
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
function kubeconfigIsCurrent(text: string, secrets: SecretsBundle, now: Date): boolean {
  try {
    const identity = clientIdentity("kubeconfig", text);
    if (identity === undefined) return false;
    const ours = isOfCas(identity, secrets.certs.k8s.certificate, trustedCas(secrets, "k8s"));
    return ours && !endsSoon(expiryOf(identity.certificate), now);
  } catch {
    return false; // Its certificate cannot be read.
  }
}

function isSameSet(left: readonly string[], right: readonly string[]): boolean {
  return [...left].sort().join() === [...right].sort().join();
}
