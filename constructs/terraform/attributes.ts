// SPDX-License-Identifier: Apache-2.0
import { type IResolvable, type IResolveContext, Lazy, ref, Token } from "cdktn";
import { type Json, printInside } from "../hcl/expression.ts";

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

/** An expression of Terraform, such as `each.key`, as a text that holds it. */
export const expression = (text: string): string => Token.asString(ref(text));

/** A value, with the references in it, as it stands inside of an expression; `indent` is that of the line. */
export type Print = (value: unknown, indent?: string) => string;

/** An expression around values that hold references. */
export function composed(write: (print: Print) => string): IResolvable {
  return Lazy.anyValue({
    produce: (context: IResolveContext) =>
      `\${${write((value, indent = "") => printInside(context.resolve(synthesizeAttributes(value)) as Json, indent))}}`,
  });
}

/** A value that is complete only when the stack is written. */
export function late(produce: () => AttributeValue): IResolvable {
  return Lazy.anyValue({ produce: () => synthesizeAttributes(produce()) });
}
