// SPDX-License-Identifier: Apache-2.0
// How a setting is described, and what follows from it: the values of a file, of constructs and of Terraform, and the way
// from one to the other. Light: the provider reads it at every start, so nothing here may load zod.
import type { Cni } from "../../talos/config/index.ts";
import { given } from "../../talos/given.ts";

/** What a text has to be; the environment's schema checks it. */
export type Form =
  | "name"
  | "talosVersion"
  | "kubernetesVersion"
  | "configContract"
  | "endpoint"
  | "dnsName"
  | "cidr"
  | "hostOrAddress"
  | "url"
  | "relativePath"
  | "releaseName"
  | "bucketName"
  | "cron"
  | "timeZone"
  | "taint"
  | "labelValue";

/** A value of one form. `Value` is what a file and constructs give, `Argument` what Terraform has for it. */
export interface SimpleType<Value = unknown, Argument = Value> {
  readonly kind:
    | "text"
    | "flag"
    | "count"
    | "texts"
    | "textMap"
    | "textsMap"
    | "duration"
    | "share"
    | "cni"
    | "section";
  /** What each text has to be. @default any that is not empty */
  readonly form?: Form;
  readonly choices?: readonly string[];
  readonly range?: readonly [minimum: number, maximum: number];
  /** How many a list has at least. @default 0 */
  readonly atLeast?: number;
  /** Of a section: the name of its interface in sections.ts, and of its schema. */
  readonly section?: string;
  /** Exists for the compiler only. */
  readonly phantom?: readonly [Value, Argument];
}

/** One object of further settings, or a list of them. `Value` where it is narrower than what the fields say. */
export interface NestedType<Fields extends Settings = Settings, Value = unknown> {
  readonly kind: "object" | "objects";
  readonly fields: Fields;
  /** Exactly one of these fields is given. */
  readonly oneOf?: readonly string[];
  readonly phantom?: Value;
}

export type SettingType = SimpleType | NestedType;

/** One row of a table of settings. The key of the row is its name in environment files and constructs. */
export interface Setting {
  readonly type: SettingType;
  /** Its name in Terraform. @default none: it becomes part of others, such as of patches */
  readonly attribute?: string;
  /** One or more sentences, for the schema, the constructs and the provider alike. */
  readonly description: string;
  /** In the form that a file has. @default none: it may be left out */
  readonly default?: unknown;
  /** In words, where the default depends on something else. */
  readonly otherwise?: string;
  /** What the provider takes where a stack sets nothing: it knows nothing of infrastructure and pools. @default `default` */
  readonly terraformDefault?: unknown;
  /** Whether Terraform requires it; where nothing is `otherwise`, so do files and constructs. @default false */
  readonly required?: true;
  /** Whether it stays what it was at the cluster's creation. @default false */
  readonly fixed?: true;
  /** Field of the Talos config generator's options that it becomes. @default none */
  readonly sets?: string;
  /** A part of another row that Terraform has as an attribute of its own. @default false */
  readonly terraformOnly?: true;
}

export type Settings = Readonly<Record<string, Setting>>;

export const text = (form?: Form): SimpleType<string> => given({ kind: "text", form });
export const choice = <const Choice extends string>(...choices: readonly Choice[]): SimpleType<Choice, string> => ({
  kind: "text",
  choices,
});
export const flag: SimpleType<boolean> = { kind: "flag" };
export const count = (minimum: number, maximum: number): SimpleType<number> => ({
  kind: "count",
  range: [minimum, maximum],
});
export const texts = (form?: Form, atLeast = 0): SimpleType<readonly string[]> =>
  given({ kind: "texts", form, atLeast });
export const textMap = (form?: Form): SimpleType<Readonly<Record<string, string>>> => given({ kind: "textMap", form });
/** Lists of URLs by registry host. */
export const mirrors: SimpleType<Readonly<Record<string, readonly string[]>>> = { kind: "textsMap", form: "url" };
/** Milliseconds; a file and Terraform have texts such as 5m. */
export const duration: SimpleType<number, string> = { kind: "duration" };
/** A number from one on, or a share such as 25%. */
export const share: SimpleType<number | `${number}%`, string> = { kind: "share" };
export type CniChoice = "flannel" | "none" | { readonly urls: readonly string[] };
export const cni: SimpleType<CniChoice, string> = { kind: "cni" };
export const section = <Value>(name: string): SimpleType<Value, never> => ({ kind: "section", section: name });
export const object = <const Fields extends Settings>(
  fields: Fields,
): NestedType<Fields> & { readonly kind: "object" } => ({
  kind: "object",
  fields,
});
/** `Value`: what the list holds, where `oneOf` makes it narrower than its fields. */
export const objects = <const Fields extends Settings, Value = ValuesOf<Fields>>(
  fields: Fields,
  oneOf: readonly (keyof Fields & string)[] = [],
): NestedType<Fields, Value> & { readonly kind: "objects" } => ({ kind: "objects", fields, oneOf });

type ValueOfType<T> = T extends { readonly kind: "objects"; readonly phantom?: infer Value }
  ? readonly NonNullable<Value>[]
  : T extends { readonly kind: "object"; readonly fields: infer Fields extends Settings }
    ? ValuesOf<Fields>
    : T extends SimpleType<infer Value, infer _>
      ? Value
      : never;

/** The rows that a file and constructs have. */
export type SettingName<S extends Settings> = keyof {
  [K in keyof S as S[K] extends { readonly terraformOnly: true } ? never : K]: K;
} &
  string;

type AlwaysGiven<S extends Settings> = keyof {
  [K in SettingName<S> as S[K] extends { readonly default: unknown }
    ? K
    : S[K] extends { readonly otherwise: string }
      ? never
      : S[K] extends { readonly required: true }
        ? K
        : never]: K;
};

/** All of them, defaults filled in. */
export type ValuesOf<S extends Settings> = {
  readonly [K in AlwaysGiven<S>]: ValueOfType<S[K]["type"]>;
} & {
  readonly [K in Exclude<SettingName<S>, AlwaysGiven<S>>]?: ValueOfType<S[K]["type"]> | undefined;
};

/** Values as constructs and callers give them: any may be left out. */
export type GivenOf<S extends Settings> = { readonly [K in SettingName<S>]?: ValueOfType<S[K]["type"]> | undefined };

/** What an object of settings is in each form of values beside the whole one. */
interface ObjectForms<S extends Settings> {
  readonly input: InputOf<S>;
  readonly argument: ArgumentsOf<S>;
  readonly state: StateOfSettings<S>;
}

/** A setting's value in such a form: objects by their fields, all others as files (`input`) or Terraform have them. */
type ValueIn<T, F extends keyof ObjectForms<Settings>> = T extends {
  readonly kind: infer Kind;
  readonly fields: infer Fields extends Settings;
}
  ? Kind extends "objects"
    ? readonly ObjectForms<Fields>[F][]
    : ObjectForms<Fields>[F]
  : T extends SimpleType<infer Value, infer Argument>
    ? F extends "input"
      ? Value
      : Argument
    : never;

/** The same where defaults inside of a value may be left out, too. */
export type InputOf<S extends Settings> = { readonly [K in keyof S]?: ValueIn<S[K]["type"], "input"> | undefined };

/** Arguments of a Terraform resource. */
export type ArgumentsOf<S extends Settings> = {
  readonly [K in keyof S as S[K] extends { readonly attribute: infer A extends string; readonly required: true }
    ? A
    : never]: ValueIn<S[K]["type"], "argument">;
} & {
  readonly [K in keyof S as S[K] extends { readonly required: true }
    ? never
    : S[K] extends { readonly attribute: infer A extends string }
      ? A
      : never]?: ValueIn<S[K]["type"], "argument">;
};

/** The same in a state, where null stands for what is not set. */
export type StateOfSettings<S extends Settings> = {
  readonly [K in keyof S as S[K] extends { readonly attribute: infer A extends string } ? A : never]:
    | ValueIn<S[K]["type"], "state">
    | (S[K] extends { readonly required: true } ? never : null);
};

type Values = Readonly<Record<string, unknown>>;

const milliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a text such as 90s, 1h30m or 30d, which was checked before. */
export function parseDuration(text: string): number {
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g);
  return [...parts].reduce((sum, [, amount, unit]) => sum + Number(amount) * (milliseconds[unit ?? ""] ?? 0), 0);
}

/** The default of a setting as a value; undefined without one. */
export function defaultOf({ type, default: standard }: Setting): unknown {
  return type.kind === "duration" && typeof standard === "string" ? parseDuration(standard) : standard;
}

/** The values with every default. */
export function withDefaults<S extends Settings>(settings: S, values: GivenOf<S>): ValuesOf<S> {
  const found: Values = values;
  const filled = fileRows(settings).map(([name, row]) => [name, found[name] ?? defaultOf(row)]);
  return given(Object.fromEntries(filled)) as ValuesOf<S>;
}

/** What each row becomes, by the names that it gives; rows that become nothing are left out. */
function byRow(
  settings: Settings,
  become: (name: string, row: Setting) => readonly [string | undefined, unknown],
): Values {
  const entries = Object.entries(settings).map(([name, row]) => become(name, row));
  return Object.fromEntries(entries.filter(([name, value]) => name !== undefined && value !== undefined));
}

/** Whether a value says what the setting's default says. */
export function isDefault(row: Setting, value: unknown): boolean {
  return JSON.stringify(value) === JSON.stringify(defaultOf(row));
}

/** The arguments of a Terraform resource: what differs from the defaults, so that a stack says nothing twice. */
export function argumentsOf<S extends Settings>(settings: S, input: InputOf<S>): ArgumentsOf<S> {
  const values: Values = spread(input);
  return byRow(settings, (name, row) => {
    const value = values[name];
    const isUsual = row.required !== true && isDefault({ ...row, default: row.terraformDefault ?? row.default }, value);
    return [row.attribute, value === undefined || isUsual ? undefined : argumentOf(row.type, value)];
  }) as ArgumentsOf<S>;
}

function argumentOf(type: SettingType, value: unknown): unknown {
  if ("fields" in type) {
    if (type.kind === "object") return argumentsOf(type.fields, value as Values);
    return (value as readonly Values[]).map((item) => argumentsOf(type.fields, item));
  }
  if (type.kind === "duration") return `${Math.ceil(Number(value) / 1000)}s`;
  return type.kind === "share" ? String(value) : value;
}

/** The values that a state or a known plan has, without those that are not set. */
export function givenIn<S extends Settings>(settings: S, state: Values): GivenOf<S> {
  const found = byRow(settings, (name, { attribute, type }) => {
    const value = attribute === undefined ? undefined : state[attribute];
    return [name, value === undefined || value === null ? undefined : settingValue(type, value)];
  });
  return gather(found) as GivenOf<S>;
}

function settingValue(type: SettingType, argument: unknown): unknown {
  if ("fields" in type) {
    if (type.kind === "object") return withDefaults(type.fields, givenIn(type.fields, argument as Values));
    return (argument as readonly Values[]).map((item) => withDefaults(type.fields, givenIn(type.fields, item)));
  }
  if (type.kind === "duration") return parseDuration(String(argument));
  return type.kind === "share" && /^\d+$/.test(String(argument)) ? Number(argument) : argument;
}

/** Terraform has no attribute of two types: a pod network of manifests is a word and a list there. */
function spread(values: Values): Values {
  const { cni } = values;
  return isManifests(cni) ? { ...values, cni: "custom", cniUrls: cni.urls } : values;
}

function gather({ cniUrls, ...values }: Values): Values {
  return values.cni === "custom" ? { ...values, cni: { urls: cniUrls ?? [] } } : values;
}

function isManifests(value: unknown): value is { readonly urls: readonly string[] } {
  return typeof value === "object" && value !== null && "urls" in value;
}

/** What settings become in the options of the config generator. */
type OptionsOf<S extends Settings> = {
  readonly [K in keyof S as S[K] extends { readonly sets: infer Field extends string } ? Field : never]?: [
    CniChoice,
  ] extends [ValueOfType<S[K]["type"]>]
    ? Cni
    : ValueOfType<S[K]["type"]>;
};

/** The options by the rows' `sets`. Defaults are left out: the generator has the same, and writes less. */
export function optionsOf<S extends Settings>(settings: S, given: GivenOf<S>): OptionsOf<S> {
  const values: Values = given;
  return byRow(settings, (name, row) => {
    const value = values[name];
    if (value === undefined || isDefault(row, value)) return [row.sets, undefined];
    return [row.sets, row.type.kind === "cni" ? cniOption(value as CniChoice) : value];
  }) as OptionsOf<S>;
}

function cniOption(value: CniChoice): Cni {
  return typeof value === "object" ? { name: "custom", urls: value.urls } : { name: value };
}

/** The other way round: the settings that a machine's config shows; options that are undefined are left out. */
export function settingsIn<S extends Settings>(settings: S, options: Values): GivenOf<S> {
  return byRow(settings, (name, { sets }) => [name, sets === undefined ? undefined : options[sets]]) as GivenOf<S>;
}

/** The names of the settings that differ from their defaults, with their values. */
export function differing<S extends Settings>(settings: S, given: GivenOf<S>): GivenOf<S> {
  const rows: Settings = settings;
  const entries = Object.entries(given).filter(([name, value]) => {
    const row = rows[name];
    return value !== undefined && (row === undefined || !isDefault(row, value));
  });
  return Object.fromEntries(entries) as GivenOf<S>;
}

/** The rows of files and constructs, in their order. */
export function fileRows(settings: Settings): readonly (readonly [name: string, row: Setting])[] {
  return Object.entries(settings).filter(([, row]) => row.terraformOnly !== true);
}
