// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Server, schemaOf, unknown, type Value } from "../../../provider/framework/index.ts";
import {
  ActionRequest,
  ApplyResourceChangeRequest,
  ApplyResourceChangeResponse,
  CallFunctionRequest,
  CallFunctionResponse,
  ConfigureProviderRequest,
  ConfigureProviderResponse,
  type DynamicValue,
  ImportResourceStateRequest,
  ImportResourceStateResponse,
  InvokeActionEvent,
  type MessageFns,
  MoveResourceStateRequest,
  MoveResourceStateResponse,
  PlanResourceChangeRequest,
  PlanResourceChangeResponse,
  ReadDataSourceRequest,
  ReadDataSourceResponse,
  ReadResourceRequest,
  ReadResourceResponse,
  UpgradeResourceStateRequest,
  UpgradeResourceStateResponse,
  ValidateTypeConfigRequest,
  ValidateTypeConfigResponse,
} from "../../../provider/protocol/gen/tfplugin6.ts";
import { routes } from "../../../provider/protocol/index.ts";
import { fromDynamicValue, toDynamicValue } from "../../../provider/protocol/value-codec.ts";
import { thingProvider } from "../../support/thing-provider.ts";

const server = new Server(thingProvider, () => undefined);
const { type } = schemaOf(server.resource("thing_thing"));
const directory = mkdtempSync(join(tmpdir(), "talosmith-things-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function call<Request, Response>(
  name: string,
  requests: MessageFns<Request>,
  responses: MessageFns<Response>,
  request: Partial<Request>,
): Promise<Response> {
  const rpc = routes[`/tfplugin6.Provider/${name}`];
  if (rpc === undefined) throw new Error(`no RPC ${name}`);
  const answer = await rpc(server, requests.encode({ ...requests.decode(new Uint8Array(0)), ...request }).finish());
  return responses.decode(answer ?? new Uint8Array(0));
}

const none = new Uint8Array(0);
const names = Object.keys(schemaOf(server.resource("thing_thing")).attributes);
// Blocks that are not written are empty, as Terraform sends them.
const empty = { ...Object.fromEntries(names.map((name) => [name, null])), rule: [], disk: {} };
const dynamic = (fields: Record<string, Value> | null): DynamicValue =>
  toDynamicValue(type, fields === null ? null : { ...empty, ...fields });

beforeAll(async () => {
  const config = toDynamicValue(schemaOf(server.provider).type, { directory });
  const request = { terraformVersion: "1.11.4", config };
  const { diagnostics } = await call("ConfigureProvider", ConfigureProviderRequest, ConfigureProviderResponse, request);
  expect(diagnostics).toEqual([]);
});

function plan(prior: DynamicValue, proposed: DynamicValue, config = proposed) {
  const request = {
    typeName: "thing_thing",
    priorState: prior,
    proposedNewState: proposed,
    config,
    priorPrivate: none,
  };
  return call("PlanResourceChange", PlanResourceChangeRequest, PlanResourceChangeResponse, request);
}

function apply(prior: DynamicValue, planned: DynamicValue | undefined, config = planned) {
  const request = {
    typeName: "thing_thing",
    priorState: prior,
    plannedState: planned,
    config,
    plannedPrivate: Buffer.from("kept"),
  };
  return call("ApplyResourceChange", ApplyResourceChangeRequest, ApplyResourceChangeResponse, request);
}

describe("the RPCs", () => {
  test("an answer always holds a state that Terraform can keep, whatever goes wrong", async () => {
    const broken: DynamicValue = { msgpack: Buffer.from("c1", "hex"), json: none };
    const prior = dynamic({ name: "a", id: "a" });
    const applied = await apply(prior, broken);
    expect(applied.diagnostics).toHaveLength(1);
    expect(applied.newState).toEqual({ msgpack: new Uint8Array(prior.msgpack), json: none });
    expect(Buffer.from(applied.private).toString()).toBe("kept");
    const read = await call("ReadResource", ReadResourceRequest, ReadResourceResponse, {
      typeName: "thing_thing",
      currentState: broken,
      private: Buffer.from("kept"),
    });
    expect(read.newState).toEqual({ ...broken, msgpack: new Uint8Array(broken.msgpack) });
    expect(read.diagnostics).toHaveLength(1);
  });

  test("a value that does not fit the schema is refused as such, not reported as our fault", async () => {
    for (const bytes of ["c1", "c0c0", "81a178c0", `92c4ff${"5b".repeat(255)}`]) {
      const broken: DynamicValue = { msgpack: Buffer.from(bytes, "hex"), json: none };
      expect((await plan(dynamic(null), broken)).diagnostics[0]?.summary).toBe("Unreadable value");
    }
  });

  test("a type that is not ours is a diagnostic", async () => {
    const answer = await call("ValidateResourceConfig", ValidateTypeConfigRequest, ValidateTypeConfigResponse, {
      typeName: "thing_other",
      config: undefined,
      clientCapabilities: undefined,
    });
    expect(answer.diagnostics[0]?.detail).toContain("It has: thing_thing");
  });

  test("write-only values are refused by a Terraform that would store them", async () => {
    const request = { typeName: "thing_thing", config: dynamic({ name: "a", secret: "s" }) };
    const ask = (allowed: boolean) =>
      call("ValidateResourceConfig", ValidateTypeConfigRequest, ValidateTypeConfigResponse, {
        ...request,
        clientCapabilities: { deferralAllowed: false, writeOnlyAttributesAllowed: allowed },
      });
    expect((await ask(true)).diagnostics).toEqual([]);
    expect((await ask(false)).diagnostics[0]?.summary).toBe("Write-only attribute not supported");
  });

  test.each([
    ["done", "ab", []],
    ["failed", "fail", ["Bad text"]],
  ])("an action that is %s reports its progress before its end", async (_, text, summaries) => {
    const { type } = schemaOf(server.action("thing_say"));
    const config = toDynamicValue(type, { text, length: null });
    const request = { actionType: "thing_say", config, clientCapabilities: undefined };
    const events: InvokeActionEvent[] = [];
    const rpc = routes["/tfplugin6.Provider/InvokeAction"];
    const last = await rpc?.(server, ActionRequest.encode(request).finish(), (message) =>
      events.push(InvokeActionEvent.decode(message)),
    );
    expect(events.map(({ type }) => type)).toEqual(
      [...text].map((message) => ({ $case: "progress", value: { message } })),
    );
    const { type: end } = InvokeActionEvent.decode(last ?? none);
    expect(end?.$case === "completed" && end.value.diagnostics.map(({ summary }) => summary)).toEqual(summaries);
  });

  test("an action whose values are not known, or that is not ours, fails in words", async () => {
    const rpc = routes["/tfplugin6.Provider/InvokeAction"];
    const ask = async (actionType: string, config: DynamicValue) => {
      const request = ActionRequest.encode({ actionType, config, clientCapabilities: undefined }).finish();
      const { type: end } = InvokeActionEvent.decode((await rpc?.(server, request)) ?? none);
      return end?.$case === "completed" ? end.value.diagnostics[0]?.summary : undefined;
    };
    const { type } = schemaOf(server.action("thing_say"));
    expect(await ask("thing_say", toDynamicValue(type, { text: unknown, length: null }))).toBe("Values are not known");
    expect(await ask("thing_other", toDynamicValue(type, { text: "a", length: null }))).toBe("Unknown action");
  });

  test("plan and apply agree, and a second plan is empty", async () => {
    const wish = dynamic({ name: "rpc", parts: { one: { count: 1, kind: null, serial: null } } });
    const planned = await plan(dynamic(null), wish);
    const applied = await apply(dynamic(null), planned.plannedState, wish);
    expect(applied.diagnostics).toEqual([]);
    const state = applied.newState ?? dynamic(null);
    const again = await plan(state, state, wish);
    expect(fromDynamicValue(type, again.plannedState)).toEqual(fromDynamicValue(type, state));
    expect(again.requiresReplace).toEqual([]);
  });

  describe("a move from another type", () => {
    const move = (sourceTypeName: string, json: string) =>
      call("MoveResourceState", MoveResourceStateRequest, MoveResourceStateResponse, {
        sourceProviderAddress: "registry.terraform.io/other/other",
        sourceTypeName,
        sourceSchemaVersion: 0n,
        sourceState: { json: Buffer.from(json), flatmap: {} },
        targetTypeName: "thing_thing",
      });
    const read = (moved: MoveResourceStateResponse) =>
      call("ReadResource", ReadResourceRequest, ReadResourceResponse, {
        typeName: "thing_thing",
        currentState: moved.targetState,
        private: moved.targetPrivate,
      });

    test("has all that the other state holds at once", async () => {
      const moved = await move("other_known", '{"title":"a"}');
      expect(fromDynamicValue(type, moved.targetState)).toMatchObject({ name: "a", id: "a", rule: [], disk: {} });
      expect(moved.targetPrivate).toHaveLength(0);
    });

    test("finds out the rest at the first refresh, and is not planned before", async () => {
      const made = dynamic({ name: "moved" });
      await apply(dynamic(null), (await plan(dynamic(null), made)).plannedState, made);
      const moved = await move("other_named", '{"title":"moved"}');
      expect(fromDynamicValue(type, moved.targetState)).toMatchObject({ name: null, id: null });
      const early = await call("PlanResourceChange", PlanResourceChangeRequest, PlanResourceChangeResponse, {
        typeName: "thing_thing",
        priorState: moved.targetState,
        proposedNewState: made,
        config: made,
        priorPrivate: moved.targetPrivate,
      });
      expect(early.diagnostics.map(({ summary }) => summary)).toEqual(["A moved resource was not read"]);
      const found = await read(moved);
      expect(fromDynamicValue(type, found.newState)).toMatchObject({ name: "moved", id: "moved" });
      expect(found.private).toHaveLength(0);
    });

    test("keeps what it was moved from where that refresh fails", async () => {
      const moved = await move("other_named", '{"title":"nowhere"}');
      const found = await read(moved);
      expect(found.diagnostics.map(({ summary }) => summary)).toEqual(["No such thing"]);
      expect(found).toMatchObject({ newState: moved.targetState, private: moved.targetPrivate });
    });

    test("is refused where no way leads from the other type", async () => {
      expect((await move("other_thing", "{}")).diagnostics[0]?.detail).toContain(
        "moved from: other_known, other_named",
      );
    });
  });

  test("an old state comes back in the form of the current schema", async () => {
    const ask = (version: bigint, json: string) =>
      call("UpgradeResourceState", UpgradeResourceStateRequest, UpgradeResourceStateResponse, {
        typeName: "thing_thing",
        version,
        rawState: { json: Buffer.from(json), flatmap: {} },
      });
    const upgraded = await ask(0n, '{"title":"a","size":123456789012345678901234567890}');
    expect(fromDynamicValue(type, upgraded.upgradedState)).toMatchObject({
      name: "a",
      size: 123456789012345678901234567890n,
    });
    expect((await ask(9n, "{}")).diagnostics[0]?.summary).toBe("State of a newer provider");
    for (const broken of ["{", '{"size":{}}', '"a"'])
      expect((await ask(1n, broken)).diagnostics[0]?.summary).toBe("State can't be read");
  });

  test("a function's faulty argument is named", async () => {
    const text = (value: string) => toDynamicValue({ kind: "string" }, value);
    const ask = (name: string, values: string[]) =>
      call("CallFunction", CallFunctionRequest, CallFunctionResponse, { name, arguments: values.map(text) });
    expect(fromDynamicValue({ kind: "string" }, (await ask("join", ["a", "b"])).result)).toBe("a-b");
    expect((await ask("join", [""])).error).toEqual({ text: "must not be empty", functionArgument: 0n });
    expect((await ask("other", [])).error?.text).toContain("no function");
  });
});

describe("fuzzed messages", () => {
  const wish = dynamic({ name: "fuzz", size: 5, tags: ["x"], labels: { a: "b" } });
  const prior = dynamic({ name: "fuzz", id: "fuzz", revision: 1, color: "grey" });
  const samples: [string, Uint8Array, MessageFns<{ diagnostics: unknown[] }>][] = [
    [
      "PlanResourceChange",
      PlanResourceChangeRequest.encode({
        ...PlanResourceChangeRequest.decode(new Uint8Array(0)),
        typeName: "thing_thing",
        priorState: prior,
        proposedNewState: wish,
        config: wish,
        priorPrivate: none,
      }).finish(),
      PlanResourceChangeResponse as never,
    ],
    [
      "ApplyResourceChange",
      ApplyResourceChangeRequest.encode({
        typeName: "thing_thing",
        priorState: prior,
        plannedState: wish,
        config: wish,
        plannedPrivate: none,
      }).finish(),
      ApplyResourceChangeResponse as never,
    ],
    [
      "ReadResource",
      ReadResourceRequest.encode({
        ...ReadResourceRequest.decode(new Uint8Array(0)),
        typeName: "thing_thing",
        currentState: prior,
        private: none,
      }).finish(),
      ReadResourceResponse as never,
    ],
    [
      "ImportResourceState",
      ImportResourceStateRequest.encode({
        ...ImportResourceStateRequest.decode(new Uint8Array(0)),
        typeName: "thing_thing",
        id: "fuzz",
      }).finish(),
      ImportResourceStateResponse as never,
    ],
    [
      "ReadDataSource",
      ReadDataSourceRequest.encode({ typeName: "thing_echo", config: undefined }).finish(),
      ReadDataSourceResponse as never,
    ],
    [
      "UpgradeResourceState",
      UpgradeResourceStateRequest.encode({
        typeName: "thing_thing",
        version: 1n,
        rawState: { json: Buffer.from('{"name":"a","parts":{"x":{"count":1}}}'), flatmap: {} },
      }).finish(),
      UpgradeResourceStateResponse as never,
    ],
  ];

  test.each(samples)(
    "%s answers with diagnostics or refuses the message, and lives on",
    async (name, bytes, responses) => {
      const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(edits, fc.option(fc.nat()), async (changes, cut) => {
          const mutated = Buffer.from(bytes);
          for (const [at, byte] of changes) mutated[at % mutated.length] = byte;
          const message = cut === null ? mutated : mutated.subarray(0, cut % mutated.length);
          let answer: Uint8Array | undefined;
          try {
            answer = await routes[`/tfplugin6.Provider/${name}`]?.(server, message);
          } catch (error) {
            // Only what is no message at all is refused; gRPC says so, and Terraform keeps its state.
            expect((error as Error).message).not.toMatch(/undefined|null|stack/i);
            return;
          }
          expect(Array.isArray(responses.decode(answer ?? none).diagnostics)).toBe(true);
        }),
        { seed: 20261116, numRuns: 400 },
      );
    },
  );
});
