// SPDX-License-Identifier: Apache-2.0

/** What a text says as JSON; undefined for one that is none, such as a line that was cut off. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
