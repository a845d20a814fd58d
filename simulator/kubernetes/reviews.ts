// SPDX-License-Identifier: Apache-2.0
import type { ApiResource } from "./api-resource.ts";

const review = (group: string, name: string, kind: string, namespaced = false): ApiResource => ({
  group,
  version: "v1",
  name,
  kind,
  namespaced,
  singular: kind.toLowerCase(),
  shortNames: [],
  categories: [],
});

/** Questions about rights: they are answered, never stored. */
export const reviewResources: readonly ApiResource[] = [
  review("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
  review("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
  review("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"),
];

/** The answer for whoever got this far: only administrators do. Undefined for a path that asks no such question. */
export function answerReview(
  path: string,
  user: { readonly name: string; readonly groups: readonly string[] },
): unknown {
  const found = reviewResources.find(({ group, version, name }) => path === `/apis/${group}/${version}/${name}`);
  if (found === undefined) return undefined;
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
  return { apiVersion: `${found.group}/${found.version}`, kind: found.kind, metadata: {}, spec: {}, status };
}
