// SPDX-License-Identifier: Apache-2.0

/** The expression that selects the disk at a path, as newer configs have it in place of the path. */
export function deviceExpression(path: string): string {
  return `disk.dev_path == ${JSON.stringify(path)}`;
}
