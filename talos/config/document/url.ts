// SPDX-License-Identifier: Apache-2.0

/** Why Go would not take a text for a URL, in its words; undefined when it would. */
export function urlFault(text: string): string | undefined {
  const failed = (reason: string): string => `parse ${JSON.stringify(text)}: ${reason}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\0-\x1f\x7f]/.test(text)) return failed("invalid control character in URL");
  const stray = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(text)?.[0];
  if (stray !== undefined) return failed(`invalid URL escape ${JSON.stringify(stray)}`);
  if (text.startsWith(":")) return failed("missing protocol scheme");
  const stranger = /[ <>"^`{}|\\]/.exec(partsOf(text).host)?.[0];
  return stranger === undefined ? undefined : failed(`invalid character ${JSON.stringify(stranger)} in host name`);
}

/** The URL as Go writes it again: the scheme in small letters, and escapes for what needs them. */
export function writtenUrl(text: string): string {
  const { scheme, host, path, query, fragment } = partsOf(text);
  return `${scheme.toLowerCase()}${host}${escaped(path)}${query}${escaped(fragment)}`;
}

/** Each part with what leads to it: `https:`, `//host:1`, `/path`, `?query`, `#fragment`. */
function partsOf(text: string): Readonly<Record<"scheme" | "host" | "path" | "query" | "fragment", string>> {
  const [, scheme = "", host = "", path = "", query = "", fragment = ""] =
    /^([A-Za-z][A-Za-z0-9+.-]*:)?(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text) ?? [];
  return { scheme, host, path, query, fragment };
}

function escaped(part: string): string {
  if (/^#?(?:[A-Za-z0-9._~!$&'()*+,;=:@/[\]-]|%[0-9A-Fa-f]{2})*$/.test(part)) return part;
  const code = (letter: string) =>
    letter.length > 2 ? letter : [...Buffer.from(letter)].map((byte) => `%${byte.toString(16).toUpperCase()}`).join("");
  return part.replace(/%[0-9A-Fa-f]{2}|(?!^#)[^A-Za-z0-9._~$&+,/:;=@-]/gu, code);
}

/** The same for a URL that must be absolute, or a path from the root. */
export function requestUrlFault(text: string): string | undefined {
  const fault = urlFault(text);
  if (fault !== undefined || text.startsWith("/") || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)) return fault;
  return `parse ${JSON.stringify(text)}: invalid URI for request`;
}
