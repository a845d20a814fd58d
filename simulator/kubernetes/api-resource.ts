// SPDX-License-Identifier: Apache-2.0

/** A kind of object that the simulated API server stores. */
export interface ApiResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural, as in the path. */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}
