// SPDX-License-Identifier: Apache-2.0
// The schema of what the tables of settings describe.
import * as z from "zod";
import type { Form, Setting, SettingName, Settings, SettingType, ValuesOf } from "../settings/index.ts";
import {
  anyCidr,
  configContract,
  count,
  cron,
  dnsName,
  duration,
  endpoint,
  hostOrAddress,
  kubernetesName,
  kubernetesVersion,
  name,
  relativePath,
  talosVersion,
  timeZone,
  url,
} from "./values.ts";

const forms: Readonly<Record<Form, z.ZodType<string>>> = {
  name,
  talosVersion,
  kubernetesVersion,
  configContract,
  endpoint,
  dnsName,
  cidr: anyCidr,
  hostOrAddress,
  url,
  relativePath,
  releaseName: kubernetesName,
  bucketName: z.string().min(3),
  cron,
  timeZone,
  labelValue: z.string({ error: "text; write numbers and true or false in quotes" }),
  taint: z.string().regex(/^([^\s:]+:)?(NoSchedule|PreferNoSchedule|NoExecute)$/, {
    error: "value:effect or effect, with NoSchedule, PreferNoSchedule or NoExecute",
  }),
};

/** Names of the rows that have a schema of their own. */
type SectionName<S extends Settings> = keyof {
  [K in SettingName<S> as S[K]["type"] extends { readonly phantom?: readonly [unknown, infer Argument] }
    ? [Argument] extends [never]
      ? K
      : never
    : never]: K;
};

type Shape<S extends Settings, Sections> = {
  readonly [K in SettingName<S>]: K extends keyof Sections
    ? Sections[K]
    : undefined extends ValuesOf<S>[K & keyof ValuesOf<S>]
      ? z.ZodOptional<z.ZodType<NonNullable<ValuesOf<S>[K & keyof ValuesOf<S>]>>>
      : S[K] extends { readonly default: unknown }
        ? z.ZodDefault<z.ZodType<ValuesOf<S>[K & keyof ValuesOf<S>]>>
        : z.ZodType<ValuesOf<S>[K & keyof ValuesOf<S>]>;
};

/** The fields of an object of settings. `sections`: the schemas of those that no form describes, default and all. */
export function shapeOf<S extends Settings, const Sections extends Record<SectionName<S>, z.ZodType>>(
  settings: S,
  sections: Sections,
): Shape<S, Sections> {
  const own: Readonly<Record<string, z.ZodType>> = sections;
  const fields = Object.entries<Setting>(settings)
    .filter(([, row]) => row.terraformOnly !== true)
    .map(([key, row]) => [key, described(row, own[key] ?? complete(row, schemaOf(row.type)))] as const);
  return Object.fromEntries(fields) as Shape<S, Sections>;
}

/** With its default; without one it may be left out, unless nothing is said of what happens then. */
function complete({ type, default: standard, required, otherwise }: Setting, schema: z.ZodType): z.ZodType {
  if (standard !== undefined) return type.kind === "duration" ? schema.prefault(standard) : schema.default(standard);
  return required && otherwise === undefined ? schema : schema.optional();
}

function described({ description, fixed, otherwise }: Setting, schema: z.ZodType): z.ZodType {
  const words = [
    description,
    otherwise === undefined ? "" : `Default: ${otherwise}.`,
    fixed ? "Can't be changed after creation." : "",
  ];
  return schema.describe(words.filter((sentence) => sentence !== "").join(" "));
}

function schemaOf(type: SettingType): z.ZodType {
  switch (type.kind) {
    case "flag":
      return z.boolean();
    case "count":
      return count(...(type.range ?? [0, Number.MAX_SAFE_INTEGER]));
    case "texts":
      return type.atLeast ? z.array(textOf(type.form)).min(type.atLeast) : z.array(textOf(type.form));
    case "textMap":
      return z.record(z.string(), textOf(type.form));
    case "textsMap":
      return z.record(hostOrAddress.or(z.literal("*")), z.array(textOf(type.form)).min(1));
    case "duration":
      return duration;
    case "share":
      return z.union([count(1, 1000), z.string().regex(/^([1-9][0-9]?|100)%$/)], {
        error: 'a whole number from 1 on, or a share such as "25%"',
      });
    case "cni":
      return z.union(
        [
          z.enum(["flannel", "none"]),
          z.strictObject({ urls: z.array(url).min(1).describe("Manifests that bring the pod network.") }),
        ],
        { error: "flannel, none, or { urls: [...] }" },
      );
    case "object":
      return z.strictObject(shapeOf<Settings, Record<string, never>>(type.fields, {}));
    case "objects":
      return z.array(itemOf(type.fields, type.oneOf ?? []));
    case "section":
      throw new Error(`no schema of its own for the section ${type.section}`);
    default:
      return type.choices === undefined ? textOf(type.form) : z.enum(type.choices);
  }
}

function itemOf(fields: Settings, oneOf: readonly string[]): z.ZodType {
  const shape: Readonly<Record<string, z.ZodType>> = shapeOf<Settings, Record<string, never>>(fields, {});
  if (oneOf.length === 0) return z.strictObject(shape);
  const common = Object.entries(shape).filter(([key]) => !oneOf.includes(key));
  const variants = oneOf.map((key) => {
    const field = shape[key];
    const own =
      field instanceof z.ZodOptional ? (field.unwrap() as z.ZodType).describe(fields[key]?.description ?? "") : field;
    return z.strictObject({ [key]: own ?? z.never(), ...Object.fromEntries(common) });
  });
  return z.union(variants, { error: "a gate: { command: [program, argument] } or { url: https://… }" });
}

function textOf(form: Form | undefined): z.ZodType<string> {
  return form === undefined ? z.string().min(1) : forms[form];
}
