// SPDX-License-Identifier: Apache-2.0

/** A value as Terraform's jsonencode writes it: keys in order. */
export function jsonEncode(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** From a stack's folder, cdktf.out/stacks/<name>, to the project's root. */
export const rootFromStack = "../../../";

/** A file of the project as Terraform finds it from the stack's folder. URLs and absolute paths stay as they are. */
export function projectPath(path: string): string {
  return /^([a-z][a-z0-9+.-]*:\/\/|\/)/i.test(path) ? path : `${rootFromStack}${path.replace(/^\.\//, "")}`;
}
