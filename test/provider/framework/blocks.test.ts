// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import {
  type Attributes,
  applyResourceChange,
  attribute,
  block,
  configureProvider,
  dynamicType,
  importResourceState,
  type Provider,
  planResourceChange,
  type Resource,
  readResource,
  Server,
  schemaOf,
  unknown,
  upgradeResourceState,
} from "../../../provider/framework/index.ts";

const text = attribute.required.string("");
const attributes = {
  rule: block.list({
    description: "",
    attributes: {
      size: attribute.defaulted.integer("", { default: 1 }),
      id: attribute.computed.string("", { stable: true }),
      when: block.set({ min: 1, description: "", attributes: { field: text } }),
    },
  }),
  disk: block.map({ description: "", attributes: { path: text } }),
  owner: block.single({ description: "", attributes: { email: text } }),
} satisfies Attributes;

async function server(): Promise<Server<null>> {
  const resource: Resource<typeof attributes, null> = {
    name: "row",
    description: "",
    attributes,
    // A resource that leaves blocks out is none the worse for it.
    create: async () => ({}) as never,
    read: async () => ({ rule: null }) as never,
    delete: async () => undefined,
    import: async () => ({}),
  };
  const provider: Provider<Attributes, null> = {
    description: "",
    attributes: {},
    resources: [resource],
    dataSources: [],
    ephemeralResources: [],
    functions: [],
    actions: [],
    lists: [],
    configure: () => null,
  };
  const made = new Server(provider, () => undefined);
  await configureProvider(made, {});
  return made;
}

const empty = { rule: [], disk: {}, owner: null };

describe("blocks", () => {
  test("get defaults and unknown computed values inside, in a plan", async () => {
    const config = { ...empty, rule: [{ size: null, id: null, when: [{ field: "a" }] }] };
    const { planned, diagnostics } = await planResourceChange(await server(), {
      typeName: "row",
      prior: null,
      proposed: config,
      config,
    });
    expect(diagnostics).toEqual([]);
    expect(planned).toEqual({ ...empty, rule: [{ size: 1, id: unknown, when: [{ field: "a" }] }] });
  });

  test("that are not there are empty and never null, wherever a state comes from", async () => {
    const row = await server();
    const change = { typeName: "row", prior: null, planned: empty, config: empty };
    expect((await applyResourceChange(row, change)).state).toEqual(empty);
    expect((await readResource(row, "row", empty)).state).toEqual(empty);
    expect((await importResourceState(row, "row", "x")).state).toEqual(empty);
    expect(upgradeResourceState(row, "row", 0, '{"rule":[{"size":2}]}')).toEqual({
      ...empty,
      rule: [{ size: 2, id: null, when: [] }],
    });
  });

  test.each<[string, Attributes, string]>([
    [
      "inside an attribute",
      {
        outer: attribute.optional.nestedObject("", { inner: block.single({ description: "", attributes: { text } }) }),
      },
      "row.outer.inner: a block can't stand inside an attribute",
    ],
    [
      "that is computed",
      { outer: { ...block.single({ description: "", attributes: { text } }), mode: "computed" } },
      "row.outer: a block can't be computed",
    ],
    [
      "that is repeated and holds any type",
      {
        outer: block.list({
          description: "",
          attributes: { any: { type: dynamicType, mode: "optional", description: "" } },
        }),
      },
      "row.outer: a block that is repeated can't hold a value of any type",
    ],
  ])("%s are refused by name before Terraform sees the schema", (_, wrong, message) => {
    expect(() => schemaOf({ name: "row", description: "", attributes: wrong })).toThrow(message);
  });
});
