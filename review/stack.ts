// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../talos/errors.ts";
import type { Plan, Values } from "./plan.ts";

const byName = z.record(z.string(), z.record(z.string(), z.unknown()));
const stackFile = z.object({ resource: z.record(z.string(), byName).default({}) });

/** What is in a resource's block for Terraform itself, and never an attribute. */
const metaArguments = new Set([
  "//",
  "connection",
  "count",
  "depends_on",
  "for_each",
  "lifecycle",
  "provider",
  "provisioner",
]);

/** A reference or a template; `$${` and `%%{` are the texts `${` and `%{`. */
const template = /(?<!\$)\$\{|(?<!%)%\{/;
const escapes = /([$%])\1\{/g;

/**
 * What the first apply of a generated stack makes, read from its JSON alone: without Terraform, its providers or an
 * account. A resource with `for_each`, such as the images of libvirt, counts as one, which it is at a first apply.
 */
export function planOfStack(text: string, file: string): Plan {
  return {
    changes: Object.entries(readStack(text, file).resource).flatMap(([type, resources]) =>
      Object.entries(resources).map(([name, block]) => ({
        address: `${type}.${name}`,
        type,
        action: "create",
        before: null,
        after: knownValues(attributesOf(block)),
        unknown: {},
        replacedFor: [],
      })),
    ),
    drifted: [],
    before: [],
    basis: "stack",
    complete: true,
    errored: false,
  };
}

function readStack(text: string, file: string): z.output<typeof stackFile> {
  const refused = (reason: string, cause?: unknown) =>
    new TalosError("invalid-input", `${file}: ${reason}`, { hint: "Write it again with `talosmith synth`.", cause });
  try {
    const parsed = stackFile.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw refused(`${issue?.path.join(".")}: ${issue?.message}`);
  } catch (cause) {
    throw cause instanceof TalosError ? cause : refused("this is not JSON", cause);
  }
}

function attributesOf(block: Values): Values {
  return Object.fromEntries(Object.entries(block).filter(([key]) => !metaArguments.has(key)));
}

/** Without what is known only after the apply, as Terraform leaves it out of a plan's values. */
function knownValues(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (isTemplate(value) ? [] : [[key, known(value)]])),
  );
}

function known(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (isTemplate(item) ? null : known(item)));
  if (typeof value === "object" && value !== null) return knownValues(value as Values);
  return typeof value === "string" ? value.replaceAll(escapes, "$1{") : value;
}

const isTemplate = (value: unknown) => typeof value === "string" && template.test(value);
