// SPDX-License-Identifier: Apache-2.0

import type { Cluster, KubernetesObject } from "../machine/world.ts";
import { storageName } from "./api-resources.ts";
import { isAdministrator, type User } from "./identity.ts";
import { detailsOf, type Target } from "./request.ts";
import { ApiError } from "./status.ts";
import { getObject, listObjects } from "./store.ts";

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs?: readonly string[];
}

/** Refuses what no role that is bound to the user allows, in the words of the real API server. */
export function requireRight(cluster: Cluster, user: User, target: Target, verb: string): void {
  if (isAdministrator(user)) return;
  if (rulesFor(cluster, user, target.namespace).some((rule) => allows(rule, target, verb))) return;
  const { resource, namespace, name } = target;
  const what = `${storageName(resource)}${name === undefined ? "" : ` "${name}"`}`;
  const where = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
  throw new ApiError(
    "Forbidden",
    `${what} is forbidden: User "${user.name}" cannot ${verb} resource "${resourceOf(target)}" in API group "${resource.group}" ${where}`,
    detailsOf(resource, name),
  );
}

/** The verb that RBAC has for a request. */
export function verbOf(method: string, { name }: Target, watching: boolean): string {
  if (method === "GET") return watching ? "watch" : name === undefined ? "list" : "get";
  if (method === "DELETE") return name === undefined ? "deletecollection" : "delete";
  return { POST: "create", PUT: "update", PATCH: "patch" }[method] ?? method.toLowerCase();
}

function rulesFor(cluster: Cluster, user: User, namespace: string | undefined): readonly Rule[] {
  const own = namespace === undefined ? [] : listObjects(cluster, "rolebindings.rbac.authorization.k8s.io", namespace);
  const everywhere = listObjects(cluster, "clusterrolebindings.rbac.authorization.k8s.io");
  return [...own, ...everywhere]
    .filter((binding) => isSubject(binding, user))
    .flatMap((binding) => {
      const { kind, name } = binding.roleRef as { readonly kind: string; readonly name: string };
      const [storage, home] = kind === "Role" ? ["roles", namespace] : ["clusterroles", undefined];
      const role = getObject(cluster, `${storage}.rbac.authorization.k8s.io`, home, name);
      return (role?.rules as readonly Rule[] | undefined) ?? [];
    });
}

function isSubject({ subjects }: KubernetesObject, { name, groups }: User): boolean {
  const list = (subjects ?? []) as readonly {
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
  }[];
  return list.some((subject) => {
    if (subject.kind === "ServiceAccount") return name === `system:serviceaccount:${subject.namespace}:${subject.name}`;
    return subject.kind === "Group" ? groups.includes(subject.name) : subject.name === name;
  });
}

function allows(
  { apiGroups = [], resources = [], resourceNames = [], verbs = [] }: Rule,
  target: Target,
  verb: string,
) {
  const has = (list: readonly string[], word: string) => list.includes("*") || list.includes(word);
  if (!has(verbs, verb) || !has(apiGroups, target.resource.group) || !has(resources, resourceOf(target))) return false;
  // The name of what is created is not known when rights are looked at: a rule with names allows no creation.
  return resourceNames.length === 0 || (target.name !== undefined && resourceNames.includes(target.name));
}

function resourceOf({ resource, subresource }: Target): string {
  return subresource === undefined ? resource.name : `${resource.name}/${subresource}`;
}
