// SPDX-License-Identifier: Apache-2.0

/** Whether a text names a container image, and whether it names exactly one by its digest. */
export function readImageReference(text: string): { readonly pinned: boolean } | undefined {
  const [base = "", digest, ...more] = text.split("@");
  if (more.length > 0) return undefined;
  if (digest !== undefined) {
    const repository = splitTag(base)?.repository ?? base;
    return /^sha256:[0-9a-f]{64}$/.test(digest) && isRepository(repository) ? { pinned: true } : undefined;
  }
  const tagged = splitTag(base);
  return tagged !== undefined && isRepository(tagged.repository) ? { pinned: false } : undefined;
}

/** A colon before a slash belongs to the port of the registry. */
function splitTag(text: string): { readonly repository: string } | undefined {
  const colon = text.lastIndexOf(":");
  if (colon < 0 || text.slice(colon).includes("/")) return { repository: text };
  return /^[A-Za-z0-9_.-]{1,128}$/.test(text.slice(colon + 1)) ? { repository: text.slice(0, colon) } : undefined;
}

function isRepository(text: string): boolean {
  const slash = text.indexOf("/");
  const first = text.slice(0, Math.max(slash, 0));
  const registry = /[.:]/.test(first) || first === "localhost";
  return /^[a-z0-9_./-]{2,255}$/.test(registry ? text.slice(slash + 1) : text);
}
