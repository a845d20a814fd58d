// SPDX-License-Identifier: Apache-2.0

/** JSON as the golden files are written. */
export function jsonFile(value: unknown): string {
  return `${JSON.stringify(value, undefined, 1)}\n`;
}
