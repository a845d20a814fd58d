// SPDX-License-Identifier: Apache-2.0
import {
  type Attributes,
  isUnknown,
  type Provider,
  type Resource,
  type Value,
} from "../../provider/framework/index.ts";
import { thingProvider } from "../support/thing-provider.ts";

const [thing] = thingProvider.resources as unknown as readonly Resource<Attributes, unknown>[];
if (thing === undefined) throw new Error("the test's provider has no resource");

/** What will be known after apply is known now: nothing. */
function settle(value: unknown): unknown {
  if (isUnknown(value)) return null;
  if (Array.isArray(value)) return value.map(settle);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, settle(inner)]));
}

const settled = (planned: unknown) =>
  Object.fromEntries(Object.entries(planned as object).map(([name, value]) => [name, settle(value as Value)])) as never;

const memory: Resource<Attributes, unknown> = {
  ...thing,
  create: async ({ planned }) => settled(planned),
  update: async ({ planned }) => settled(planned),
  read: async ({ state }) => state,
  delete: async () => undefined,
  import: async ({ id }) => ({ id }) as never,
};

/** The tests' provider without its files and its waiting, so that any apply may be tried. */
export const memoryProvider = {
  ...thingProvider,
  resources: [memory],
  configure: () => ({}),
} as unknown as Provider<Attributes, unknown>;
