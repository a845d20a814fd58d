// SPDX-License-Identifier: Apache-2.0

import type { NumberValue } from "./decimal.ts";
import type { AttributePath, Diagnostics } from "./diagnostics.ts";
import type { Type, Unknown } from "./value.ts";

/**
 * Who gives the value. `required`, `optional`: the configuration. `computed`: the provider. `defaulted`: the
 * configuration, or else the provider (a `default`, or whatever plan and apply come to).
 */
export type Mode = "required" | "optional" | "computed" | "defaulted";

export type Nesting = "single" | "list" | "set" | "map";

export interface Nested {
  readonly nesting: Nesting;
  readonly attributes: Attributes;
  /** Written as a block, `rule { … }`, and not as an attribute, `rule = { … }`. */
  readonly block?: BlockItems;
}

/** How often a block may be written. Terraform itself counts. */
export interface BlockItems {
  /** @default 0 */
  readonly min?: number | undefined;
  /** @default any number */
  readonly max?: number | undefined;
}

/** Checks one known, non-null value of the configuration. A method, so that attributes of all types share a table. */
export type Validator<T> = { check(value: T, path: AttributePath, diagnostics: Diagnostics): void }["check"];

/** One attribute of a schema. `T` is its value in TypeScript. Made by the builders in attributes.ts. */
export interface Attribute<T = unknown, M extends Mode = Mode> {
  readonly type: Type;
  readonly mode: M;
  /** Markdown, for the docs and the editor. */
  readonly description: string;
  readonly nested?: Nested;
  /** Kept out of what Terraform prints; it is in the state all the same. */
  readonly sensitive?: boolean;
  /** Given to create and update in `config`, never stored in plan or state. Needs Terraform 1.11. */
  readonly writeOnly?: boolean;
  readonly deprecated?: boolean | undefined;
  /** The value when the configuration has none. For `defaulted` only. */
  readonly default?: T;
  /** A computed value that an update does not change: the plan keeps the old one rather than "known after apply". */
  readonly stable?: boolean;
  /** A change of this attribute replaces the resource. */
  readonly replaces?: boolean | undefined;
  readonly validators?: readonly Validator<T>[];
}

export type Attributes = Readonly<Record<string, Attribute>>;

/** A complete, known object of a schema: what read, create and update return. */
export type StateOf<S extends Attributes> = {
  readonly [K in keyof S]: S[K] extends Attribute<infer T, infer M> ? (M extends "required" ? T : T | null) : never;
};

/** What create and update are given: all that the configuration says is known, computed values may not be. */
export type PlanOf<S extends Attributes> = {
  readonly [K in keyof S]: S[K] extends Attribute<infer T, infer M>
    ? M extends "required"
      ? T
      : M extends "optional"
        ? T | null
        : T | null | Unknown
    : never;
};

/** While planning, anything may be unknown, at any depth. */
export type ConfigOf<S extends Attributes> = {
  readonly [K in keyof S]: S[K] extends Attribute<infer T> ? MaybeUnknown<T> | null : never;
};

type MaybeUnknown<T> =
  | Unknown
  | (T extends string | boolean | NumberValue | null
      ? T
      : T extends readonly (infer E)[]
        ? readonly MaybeUnknown<E>[]
        : { readonly [K in keyof T]: MaybeUnknown<T[K]> });
