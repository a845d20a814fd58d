// SPDX-License-Identifier: Apache-2.0
import type { TLSSocket } from "node:tls";
import { jsonIn } from "../../talos/plain-text.ts";
import { type Cluster, tree } from "../machine/world.ts";
import { type ApiResource, resourcesOf } from "./api-resources.ts";
import { ApiError, notServed } from "./status.ts";
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
  if (account === undefined) throw new ApiError("Unauthorized", "Unauthorized");
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

/** Questions about rights: they are answered, never stored. */
export const reviewResources: readonly ApiResource[] = [
  ...resourcesOf("authorization.k8s.io/v1", [
    ["selfsubjectaccessreviews", "SelfSubjectAccessReview", false],
    ["selfsubjectrulesreviews", "SelfSubjectRulesReview", false],
  ]),
  ...resourcesOf("authentication.k8s.io/v1", [["selfsubjectreviews", "SelfSubjectReview", false]]),
];

const reviewAt = (path: string) =>
  reviewResources.find(({ group, version, name }) => path === `/apis/${group}/${version}/${name}`);

export const asksReview = (path: string): boolean => reviewAt(path) !== undefined;

/** The answer to every request that is authenticated: only administrators are. */
export function answerReview(path: string, user: User, body: Buffer): unknown {
  const found = reviewAt(path);
  if (found === undefined) throw notServed();
  const { spec = {} } = tree(jsonIn(body.toString()));
  const everything = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };
  const status = {
    SelfSubjectAccessReview: { allowed: true },
    SelfSubjectRulesReview: {
      incomplete: false,
      resourceRules: [everything],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    },
    SelfSubjectReview: { userInfo: { username: user.name, groups: [...user.groups, "system:authenticated"] } },
  }[found.kind];
  return { apiVersion: `${found.group}/${found.version}`, kind: found.kind, metadata: {}, spec, status };
}
