// SPDX-License-Identifier: Apache-2.0
import type { TLSSocket } from "node:tls";
import type { Cluster } from "../machine/world.ts";
import { ApiError } from "./status.ts";
import { listObjects } from "./store.ts";

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

export const tokenSecretType = "kubernetes.io/service-account-token";

/** Who asks: a client with a certificate of the cluster's CA, or a service account with its token. */
export function identify(socket: TLSSocket, authorization: string | undefined, cluster: Cluster | undefined): User {
  if (socket.authorized) {
    const { subject } = socket.getPeerCertificate();
    const groups: unknown = subject?.O;
    return {
      name: String(subject?.CN ?? ""),
      groups: Array.isArray(groups) ? groups.map(String) : [String(groups ?? "")],
    };
  }
  const token = /^Bearer (\S+)$/.exec(authorization ?? "")?.[1];
  const account = token === undefined ? undefined : accountOf(cluster, token);
  if (account === undefined) throw new ApiError(401, "Unauthorized", "Unauthorized");
  return account;
}

/** The service account whose token this is, by the Secrets that hold such tokens. */
function accountOf(cluster: Cluster | undefined, token: string): User | undefined {
  const encoded = Buffer.from(token).toString("base64");
  const holder = listObjects(cluster, "secrets").find(
    (secret) =>
      secret.type === tokenSecretType && (secret.data as Record<string, string> | undefined)?.token === encoded,
  );
  const annotations = holder?.metadata.annotations as Record<string, string> | undefined;
  const name = annotations?.["kubernetes.io/service-account.name"];
  const namespace = holder?.metadata.namespace;
  if (name === undefined || namespace === undefined) return undefined;
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}

export function isAdministrator({ groups }: User): boolean {
  return groups.includes("system:masters");
}
