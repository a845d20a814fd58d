// SPDX-License-Identifier: Apache-2.0

/** What a client certificate of the Talos API allows. */
export const roles = [
  "os:admin",
  "os:operator",
  "os:reader",
  "os:etcd:backup",
  "os:image:verifier",
  "os:meta:writer",
  "os:impersonator",
] as const;
export type Role = (typeof roles)[number];

/** Those of the texts that are roles, each once, in the order in which talosctl shows them. */
export function knownRoles(texts: readonly string[]): readonly Role[] {
  return roles.filter((role) => texts.includes(role)).sort();
}
