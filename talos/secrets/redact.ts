// SPDX-License-Identifier: Apache-2.0
import type { SecretsBundle } from "./bundle.ts";

const redacted = "******";

/** Shorter texts would hide ordinary words. */
const shortest = 6;
/** Public parts of a bundle. */
const shown: ReadonlySet<string> = new Set(["certificate", "id", "phase", "formerCas"]);

/** Replaces every secret of a bundle in a text from outside, such as a log. Keys are known by line and in base64, too. */
export function hideSecrets(bundle: SecretsBundle): (text: string) => string {
  const secrets = [...new Set(textsOf(bundle).flatMap(forms))].filter((text) => text.length >= shortest);
  // The whole before its parts.
  secrets.sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, redacted), text);
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (shown.has(key) ? [] : textsOf(inner)));
}

function forms(secret: string): string[] {
  const lines = secret.split("\n").filter((line) => line !== "" && !line.startsWith("-----"));
  return [secret, ...lines, Buffer.from(secret, "utf8").toString("base64")];
}
