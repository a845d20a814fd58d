// SPDX-License-Identifier: Apache-2.0
import Handlebars from "handlebars";
import { TalosError } from "../talos/errors.ts";

/** What a template may use. Lists and mappings may be walked with `each`, or written whole. */
export type TemplateValue =
  | string
  | number
  | boolean
  | null
  | readonly TemplateValue[]
  | { readonly [key: string]: TemplateValue };

/** JSON is YAML, but for a few characters that YAML wants escaped. */
function toYaml(value: TemplateValue): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, escaped);
}

/** A value that writes itself as YAML, however a template asks for it, and can still be walked. */
function writable(value: TemplateValue): unknown {
  if (value === null || value === false) return value;
  if (typeof value !== "object") return new Handlebars.SafeString(toYaml(value));
  const inner = Array.isArray(value)
    ? value.map(writable)
    : Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, writable(entry)]));
  const text = toYaml(value);
  return Object.defineProperties(inner, {
    toHTML: { value: () => text, enumerable: false },
    toString: { value: () => text, enumerable: false },
  });
}

const compiled = new Map<string, Handlebars.TemplateDelegate>();
const mostCompiled = 100;

/** Many machines share one template, and compiling costs more than filling; a few templates are all that a run has. */
function compile(template: string): Handlebars.TemplateDelegate {
  const known = compiled.get(template);
  if (known !== undefined) return known;
  const created = Handlebars.create().compile(template, { strict: true, knownHelpersOnly: true });
  if (compiled.size >= mostCompiled) compiled.clear();
  compiled.set(template, created);
  return created;
}

/**
 * Fills a Handlebars template for YAML. Each `{{value}}` becomes one whole YAML value in quotes, so that no text, with
 * whatever newlines and colons, can add a key; an unknown name is an error rather than nothing.
 */
export function fillTemplate(
  template: string,
  name: string,
  values: { readonly [key: string]: TemplateValue },
): string {
  if (typeof template !== "string") throw new TalosError("invalid-input", `template ${name}: found no text`);
  const context = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, writable(value)]));
  try {
    return compile(template)(context);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new TalosError("invalid-input", `template ${name}: ${message}`, {
      hint: `It may use ${Object.keys(values).join(", ")}, and the helpers if, unless, each and with.`,
      cause: error,
    });
  }
}
