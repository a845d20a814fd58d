// SPDX-License-Identifier: Apache-2.0

/** Why Go would not take a text for a URL, in its words; undefined when it would. */
export function urlFault(text: string): string | undefined {
  const failed = (reason: string): string => `parse ${JSON.stringify(text)}: ${reason}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\0-\x1f\x7f]/.test(text)) return failed("invalid control character in URL");
  const stray = /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(text)?.[0];
  if (stray !== undefined) return failed(`invalid URL escape ${JSON.stringify(stray)}`);
  return text.startsWith(":") ? failed("missing protocol scheme") : undefined;
}

/** The same for a URL that must be absolute, or a path from the root. */
export function requestUrlFault(text: string): string | undefined {
  const fault = urlFault(text);
  if (fault !== undefined || text.startsWith("/") || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)) return fault;
  return `parse ${JSON.stringify(text)}: invalid URI for request`;
}
