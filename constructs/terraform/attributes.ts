// SPDX-License-Identifier: Apache-2.0
import { Token } from "cdktf";

/** What an argument in Terraform's own spelling may hold. Undefined arguments are left out. */
export type AttributeValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly AttributeValue[]
  | { readonly [key: string]: AttributeValue };

/** Text that Terraform takes as it is: `${` and `%{` begin no template. References (tokens) inside stay references. */
function escapeTemplates(text: string): string {
  return text.replaceAll(/\$\{(?!TfToken\[)/g, "$$${").replaceAll("%{", "%%{");
}

/**
 * Makes every text in the arguments, and every key, mean itself. All text goes through here, so a reference has to be
 * a token; nobody has to remember to escape what a user wrote.
 */
export function synthesizeAttributes(value: unknown): unknown {
  if (typeof value === "string") return escapeTemplates(value);
  if (typeof value !== "object" || value === null || Token.isUnresolved(value)) return value;
  if (Array.isArray(value)) return value.map(synthesizeAttributes);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [escapeTemplates(key), synthesizeAttributes(inner)]),
  );
}
