// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import {
  type Attributes,
  applyResourceChange,
  attribute,
  configureProvider,
  DiagnosticError,
  isUnknown,
  type ObjectValue,
  type Provider,
  path,
  planResourceChange,
  type Resource,
  readResource,
  Server,
  unknown,
  type Value,
} from "../../../provider/framework/index.ts";

const attributes = {
  name: attribute.required.string("", { replaces: true }),
  color: attribute.defaulted.string("", { default: "grey" }),
  rows: attribute.optional.nestedList("", {
    size: attribute.required.integer(""),
    unit: attribute.defaulted.string("", { default: "m" }),
    key: attribute.computed.string("", { stable: true }),
  }),
  secret: attribute.optional.string("", { writeOnly: true }),
  id: attribute.computed.string("", { stable: true }),
  revision: attribute.computed.integer(""),
} satisfies Attributes;

type Row = Resource<typeof attributes, null>;

async function serverWith(own: Partial<Row>): Promise<Server<null>> {
  const resource: Row = {
    name: "row",
    description: "",
    attributes,
    create: async ({ planned }) => ({ ...planned, color: "grey", id: "1", revision: 1 }),
    read: async ({ state }) => state,
    update: async ({ prior, planned }) => ({ ...planned, color: "grey", id: prior.id, revision: 2 }),
    delete: async () => undefined,
    ...own,
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
  const server = new Server(provider, () => undefined);
  await configureProvider(server, {});
  return server;
}

const empty = { name: null, color: null, rows: null, secret: null, id: null, revision: null };
const config = (wishes: Record<string, Value>): ObjectValue => ({ ...empty, ...wishes });
const plan = (server: Server<null>, prior: ObjectValue | null, wishes: ObjectValue, proposed = wishes) =>
  planResourceChange(server, { typeName: "row", prior, proposed, config: wishes });

describe("a plan", () => {
  test("of a create has defaults and unknown computed values, at any depth, and no write-only value", async () => {
    const server = await serverWith({});
    const rows = [{ size: 1, unit: null, key: null }];
    const { planned } = await plan(server, null, config({ name: "a", rows, secret: "s" }));
    expect(planned).toEqual({
      name: "a",
      color: "grey",
      rows: [{ size: 1, unit: "m", key: unknown }],
      secret: null,
      id: unknown,
      revision: unknown,
    });
  });

  test("of a change keeps what is stable and opens what is not", async () => {
    const server = await serverWith({});
    const prior = config({ name: "a", color: "grey", id: "1", revision: 1 });
    const wishes = config({ name: "a", color: "red" });
    const { planned, replace } = await plan(server, prior, wishes, { ...prior, color: "red" });
    expect(planned).toMatchObject({ color: "red", id: "1" });
    expect(isUnknown((planned as ObjectValue).revision ?? null)).toBe(true);
    expect(replace).toEqual([]);
  });

  test("replaces where an attribute says so, and nothing without a change", async () => {
    const server = await serverWith({});
    const prior = config({ name: "a", color: "grey", id: "1", revision: 1 });
    const other = await plan(server, prior, config({ name: "b" }), { ...prior, name: "b" });
    expect(other.replace.map(String)).toEqual(["name"]);
    const same = await plan(server, prior, config({ name: "a" }), prior);
    expect(same).toMatchObject({ planned: prior, replace: [] });
  });

  test("may be refined by the resource, but not against the configuration", async () => {
    const server = await serverWith({ plan: () => ({ values: { id: "known" }, replace: [path("color")] }) });
    const prior = config({ name: "a", color: "grey", id: "1", revision: 1 });
    const { planned, replace } = await plan(server, prior, config({ name: "a" }), prior);
    expect(planned).toMatchObject({ id: "known" });
    expect(replace.map(String)).toEqual(["color"]);
    const bad = await serverWith({ plan: () => ({ values: { name: "mine" } }) });
    const { diagnostics } = await plan(bad, null, config({ name: "a" }));
    expect(diagnostics[0]?.summary).toBe("Fault in the provider");
  });
});

describe("an apply", () => {
  const planned = config({ name: "a", color: "grey", id: unknown, revision: unknown });
  const apply = (server: Server<null>, prior: ObjectValue | null, wish: ObjectValue | null = planned) =>
    applyResourceChange(server, { typeName: "row", prior, planned: wish, config: config({ name: "a" }) });

  test("that changes a planned value, or leaves one unknown, is our fault and says so", async () => {
    const other = await serverWith({
      create: async ({ planned: wish }) => ({ ...wish, name: "b", color: "grey", id: "1", revision: 1 }),
    });
    expect((await apply(other, null)).diagnostics[0]).toMatchObject({ severity: "error", path: path("name") });
    const open = await serverWith({ create: async ({ planned: wish }) => wish as never });
    expect((await apply(open, null)).diagnostics.map(({ path: where }) => String(where))).toEqual(["id", "revision"]);
  });

  test("that fails keeps the newest saved state, else the prior one, and nothing of a create", async () => {
    const fail = () => Promise.reject(new DiagnosticError({ summary: "No", detail: "As told." }));
    const server = await serverWith({ create: fail, update: fail, delete: fail });
    const prior = config({ name: "a", color: "grey", id: "1", revision: 1 });
    expect(await apply(server, null)).toMatchObject({ state: null, diagnostics: [{ summary: "No" }] });
    expect(await apply(server, prior)).toMatchObject({ state: prior, diagnostics: [{ summary: "No" }] });
    expect(await apply(server, prior, null)).toMatchObject({ state: prior, diagnostics: [{ summary: "No" }] });
    const saving = await serverWith({
      update: ({ prior: before, save }) => {
        save({ ...before, revision: 7 });
        return fail();
      },
    });
    expect(await apply(saving, prior)).toMatchObject({ state: { revision: 7 } });
  });

  test("that takes too long or is interrupted says which, and what it was at", async () => {
    const hang: Row["create"] = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("in the middle"))));
    const slow = await serverWith({ create: hang, timeouts: { create: "20ms" } });
    const { diagnostics } = await apply(slow, null, { ...planned, timeouts: null });
    expect(diagnostics[0]?.summary).toBe("Took too long");
    expect(diagnostics[0]?.detail).toContain("in the middle");
    const server = await serverWith({ create: hang });
    const running = apply(server, null);
    server.stop();
    const [diagnostic, ...more] = (await running).diagnostics;
    expect([diagnostic?.summary, more]).toEqual(["Stopped", []]);
    expect(diagnostic?.detail).toMatch(/interrupted.*apply again to go on from there\.\n\nIt was at: .*in the middle/s);
  });
});

test("what an operation remembers comes back to the next ones, also after one that fails", async () => {
  const heard: string[] = [];
  const state = config({ name: "a", color: "grey", id: "1", revision: 1 });
  const row = { ...state } as never;
  const server = await serverWith({
    create: async ({ remembered, remember }) => {
      heard.push(`create ${remembered}`);
      remember("one");
      return row;
    },
    update: async ({ remembered, remember }) => {
      heard.push(`update ${remembered}`);
      remember("two");
      throw new DiagnosticError({ summary: "No", detail: "As told." });
    },
    read: async ({ remembered }) => {
      heard.push(`read ${remembered}`);
      return row;
    },
    planDelete: ({ remembered }) => void heard.push(`plan ${remembered}`),
    delete: async ({ remembered }) => void heard.push(`delete ${remembered}`),
  });
  const common = { typeName: "row", config: config({ name: "a" }) };
  const made = await applyResourceChange(server, { ...common, prior: null, planned: state });
  expect(made.remembered).toBe("one");
  const { remembered } = await applyResourceChange(server, { ...common, ...made, prior: state, planned: state });
  expect(remembered).toBe("two");
  await readResource(server, "row", state, remembered);
  await planResourceChange(server, { ...common, prior: state, proposed: null, remembered });
  await applyResourceChange(server, { ...common, prior: state, planned: null, remembered });
  expect(heard).toEqual(["create ", "update one", "read two", "plan two", "delete two"]);
});

describe("a read", () => {
  test("that finds nothing drops the resource; one that fails keeps it", async () => {
    const state = config({ name: "a", id: "1" });
    expect((await readResource(await serverWith({ read: async () => null }), "row", state)).state).toBeNull();
    const broken = await serverWith({ read: () => Promise.reject(new Error("broken")) });
    const kept = await readResource(broken, "row", state);
    expect(kept.state).toEqual(state);
    expect(kept.diagnostics[0]?.detail).toContain("broken");
  });
});

test("a limit of years is not over at once", async () => {
  const server = await serverWith({});
  const { result } = await server.run({ name: "create", milliseconds: 2 ** 40 }, async ({ signal }) => {
    await new Promise((wake) => setTimeout(wake, 20));
    return signal.aborted;
  });
  expect(result).toBe(false);
});
