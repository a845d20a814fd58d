// SPDX-License-Identifier: Apache-2.0

/** The fields of `T` that may be undefined as optional fields; all others as they are. */
type Given<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The same object without the fields that are undefined, in the same order: for files, the wire and spreads over defaults. */
export function given<const T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}

/** A list or a mapping; undefined when it is empty, so that it is left out. */
export function filled<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

/** True for a value that is not undefined, as a filter of lists. */
export function isGiven<T>(value: T | undefined): value is T {
  return value !== undefined;
}
