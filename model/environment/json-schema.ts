// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { type Kind, kindNames, kinds, sections } from "../schema/index.ts";

type Json = { [key: string]: unknown };

/**
 * The JSON Schema of environment files, for editors, from the same source as the check itself. Nothing is required in
 * it, because an environment's base may have said it already.
 */
export function environmentJsonSchema(): Json {
  const converted = Object.entries(sections).map(([name, schema]) => [name, convert(schema)]);
  const { cluster, ...others }: Json = Object.fromEntries(converted);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "talosmith environment",
    description: "One Kubernetes cluster on Talos Linux and what it runs on.",
    type: "object",
    additionalProperties: false,
    properties: {
      cluster,
      infrastructure: {
        description: "What the machines are.",
        type: "object",
        properties: { kind: { enum: kindNames } },
      },
      controlPlane: { description: "The control planes.", type: "object" },
      controlPlaneRef: {
        description:
          "A file that holds the control plane, or another environment whose control plane the workers join.",
        anyOf: [
          { type: "string" },
          {
            type: "object",
            properties: { environment: { type: "string" } },
            required: ["environment"],
            additionalProperties: false,
          },
        ],
      },
      workers: { description: "Pools of workers.", type: "array" },
      ...others,
    },
    allOf: kindNames.map(forKind),
  };
}

function forKind(kind: Kind): Json {
  const { infrastructure, controlPlane, worker } = kinds[kind];
  return {
    if: {
      properties: { infrastructure: { properties: { kind: { const: kind } }, required: ["kind"] } },
      required: ["infrastructure"],
    },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      properties: {
        infrastructure: convert(infrastructure),
        controlPlane: convert(controlPlane),
        workers: {
          type: "array",
          items: {
            anyOf: [
              convert(worker),
              {
                type: "object",
                description: "A file that holds the pool.",
                properties: { workerRef: { type: "string" } },
                required: ["workerRef"],
                additionalProperties: false,
              },
            ],
          },
        },
      },
    },
  };
}

/** Every section, and each kind's own, with what has to be said and all defaults: for the page that lists the fields. */
export function environmentReference(): {
  readonly sections: ReadonlyMap<string, unknown>;
  readonly kinds: ReadonlyMap<Kind, ReadonlyMap<string, unknown>>;
} {
  const every = new Map(Object.entries(sections).map(([name, schema]) => [name, wholeJson(schema)]));
  const byKind = kindNames.map((kind) => {
    const { infrastructure, controlPlane, worker } = kinds[kind];
    const own = { infrastructure, controlPlane, "workers[]": worker };
    return [kind, new Map(Object.entries(own).map(([name, schema]) => [name, wholeJson(schema)]))] as const;
  });
  return { sections: every, kinds: new Map(byKind) };
}

function convert(schema: z.ZodType): unknown {
  return withoutRequired(wholeJson(schema));
}

function wholeJson(schema: z.ZodType): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { target: "draft-7", io: "input", unrepresentable: "any" });
  return json;
}

/** Also drops defaults of mappings, which say nothing that the defaults of their fields do not. */
function withoutRequired(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRequired);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => key !== "required" && !(key === "default" && typeof inner === "object"))
      .map(([key, inner]) => [key, withoutRequired(inner)]),
  );
}
