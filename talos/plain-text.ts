// SPDX-License-Identifier: Apache-2.0
import { stripVTControlCharacters } from "node:util";

/** All that a terminal acts on, or that changes the order of what is read, but for the end of a line and the tab. */
const control = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u;
const everyControl = new RegExp(control, "gu");

/**
 * Text from a machine, a cluster or another program, as it may be shown: without escape sequences, other control
 * characters in a visible form (`^G`, `<U+202E>`), which no reader of YAML or JSON turns back. Lines stay lines.
 */
export function plainText(text: string): string {
  if (!control.test(text)) return text;
  return stripVTControlCharacters(text.replaceAll("\r\n", "\n")).replace(everyControl, visible);
}

/** The same where one line is expected: a line break must not begin another one. */
export function oneLine(text: string): string {
  return plainText(text).replace(/\s*\n\s*/g, " ");
}

/** JSON of a cluster or another program, its texts as `plainText` gives them. Throws as `JSON.parse` does. */
export function parsePlainJson(text: string): unknown {
  if (!control.test(text) && !escapedControl.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value === "string") return plainText(value);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [plainText(key), inner]));
  });
}

/** How JSON writes them; maybe more than these, for a backslash may be escaped itself. */
const escapedControl = /\\(?:[bfr]|u(?:00[0189]|007f|061c|20[026]))/i;

function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  return code === 0x7f ? "^?" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** The value of a text in JSON; undefined for text that is not JSON, such as a line that was cut off. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
