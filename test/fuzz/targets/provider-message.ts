// SPDX-License-Identifier: Apache-2.0
import { tmpdir } from "node:os";
import {
  DiagnosticError,
  dynamicType,
  type Schema,
  Server,
  schemaOf,
  type Value,
  valuesEqual,
} from "../../../provider/framework/index.ts";
import * as wire from "../../../provider/protocol/gen/tfplugin6.ts";
import { routes } from "../../../provider/protocol/index.ts";
import { fromDynamicValue, toDynamicValue } from "../../../provider/protocol/value-codec.ts";
import { talosmithProvider } from "../../../provider/types/index.ts";
import { TalosError } from "../../../talos/errors.ts";
import { hostileTexts } from "../hostile-values.ts";
import { memoryProvider } from "../memory-provider.ts";
import { mutateBytes } from "../mutate-bytes.ts";
import type { Random } from "../random.ts";
import { seedFiles } from "../seeds.ts";
import { afterwards, BrokenPromise, bytesTrial, promise, type Target, type Trial } from "../target.ts";
import { deepDynamic, objectOfSchema, valueOfType } from "../terraform-values.ts";

const log = () => undefined;
const things = new Server(memoryProvider, log);
const talosmith = new Server(
  talosmithProvider({ workingDirectory: tmpdir(), environment: {}, daemonCommand: ["false"] }),
  log,
);
const [bundle] = seedFiles("test/golden/secrets", /v1\.13\.yaml$/, 20_000);
things.configured({});
talosmith.configured(
  (await talosmith.provider.configure({
    config: { ...none(talosmith.provider), secrets: bundle?.text },
    log,
  } as never)) as never,
);

function none(source: Parameters<typeof schemaOf>[0]): Record<string, Value> {
  return Object.fromEntries(Object.keys(schemaOf(source).attributes).map((name) => [name, null]));
}

interface Message {
  readonly server: Server;
  readonly rpc: string;
  readonly bytes: Uint8Array;
  readonly requests: wire.MessageFns<unknown>;
  readonly responses: wire.MessageFns<unknown>;
  /** Nothing in it is wrong by the schema: that the provider blames itself is no answer then. */
  readonly sound: boolean;
  /** What its answer's state, by the name of its field, must be a value of. */
  readonly answers?: { readonly field: string; readonly schema: Schema };
  /** What Terraform would have asked before, and gone no further after an error. */
  readonly before?: Message;
}

/** Messages of Terraform: answered with a state or with diagnostics, whatever they hold. */
export const providerMessageTarget: Target = {
  name: "provider-message",
  about: "whole tfplugin6 requests, and MessagePack values, to the handlers of the provider",
  make(random) {
    if (random.chance(0.15)) return codecTrial(random);
    return messageTrial(spoil(message(random), random));
  },
};

function message(random: Random): Message {
  switch (random.below(9)) {
    case 0:
      return validate("ValidateResourceConfig", talosmith, random.pick(talosmith.provider.resources), random);
    case 1:
      return validate("ValidateDataResourceConfig", talosmith, random.pick(talosmith.provider.dataSources), random);
    case 2:
      return upgrade(random.chance(0.5) ? talosmith : things, random);
    case 3:
      return plan(things, random);
    case 4:
      return apply(random);
    case 5:
      return call(random);
    case 6:
      return importOrRead(random);
    case 7:
      return readData(random);
    default:
      return plan(talosmith, random);
  }
}

type TypeSource = { readonly name: string } & Parameters<typeof schemaOf>[0];

const dynamic = (schema: Schema, value: Value) => toDynamicValue(schema.type, value);
const nothing = new Uint8Array(0);

function validate(rpc: string, server: Server, type: TypeSource, random: Random, config?: Value): Message {
  const schema = schemaOf(type);
  const value = config ?? objectOfSchema(schema.attributes, random, "config");
  const request = wire.ValidateTypeConfigRequest.encode({
    typeName: type.name,
    config: dynamic(schema, value),
    clientCapabilities: { writeOnlyAttributesAllowed: true, deferralAllowed: true },
  });
  return sound(server, rpc, request, wire.ValidateTypeConfigRequest, wire.ValidateTypeConfigResponse);
}

function sound(
  server: Server,
  rpc: string,
  request: { finish(): Uint8Array },
  requests: unknown,
  responses: unknown,
  more: Partial<Message> = {},
): Message {
  const [decoder, encoder] = [requests, responses] as wire.MessageFns<unknown>[];
  if (decoder === undefined || encoder === undefined) throw new Error(`${rpc} has no messages`);
  return { server, rpc, bytes: request.finish(), requests: decoder, responses: encoder, sound: true, ...more };
}

function plan(server: Server, random: Random): Message {
  const type = random.pick(server.provider.resources);
  const schema = schemaOf(type);
  const prior = random.chance(0.4) ? null : objectOfSchema(schema.attributes, random, "state");
  const wanted = random.chance(0.1) && prior !== null ? null : objectOfSchema(schema.attributes, random, "config");
  const request = wire.PlanResourceChangeRequest.encode({
    ...wire.PlanResourceChangeRequest.decode(new Uint8Array(0)),
    typeName: type.name,
    priorState: dynamic(schema, prior),
    proposedNewState: dynamic(schema, wanted),
    config: dynamic(schema, wanted),
    priorPrivate: nothing,
  });
  const before = wanted === null ? {} : { before: validate("ValidateResourceConfig", server, type, random, wanted) };
  const answers = { field: "plannedState", schema };
  const { PlanResourceChangeRequest: requests, PlanResourceChangeResponse: responses } = wire;
  return sound(server, "PlanResourceChange", request, requests, responses, { ...before, answers });
}

function apply(random: Random): Message {
  const type = random.pick(things.provider.resources);
  const schema = schemaOf(type);
  const state = () => objectOfSchema(schema.attributes, random, "state");
  const [prior, planned] = random.pick<() => readonly [Value, Value]>([
    () => [null, state()],
    () => [state(), null],
    () => [state(), state()],
  ])();
  const request = wire.ApplyResourceChangeRequest.encode({
    typeName: type.name,
    priorState: dynamic(schema, prior),
    plannedState: dynamic(schema, planned),
    config: dynamic(schema, planned),
    plannedPrivate: nothing,
  });
  const answers = { field: "newState", schema };
  const { ApplyResourceChangeRequest: requests, ApplyResourceChangeResponse: responses } = wire;
  return sound(things, "ApplyResourceChange", request, requests, responses, { answers });
}

function upgrade(server: Server, random: Random): Message {
  const type = random.pick(server.provider.resources);
  const schema = schemaOf(type);
  const state = objectOfSchema(schema.attributes, random, "state");
  const json = JSON.stringify(state, (_, value) => (typeof value === "bigint" ? Number(value) : value));
  const request = wire.UpgradeResourceStateRequest.encode({
    typeName: type.name,
    version: BigInt(random.pick([0, 0, 1, 1, 2, 99])),
    rawState: { json: random.chance(0.4) ? mutateBytes(Buffer.from(json), random) : Buffer.from(json), flatmap: {} },
  });
  const answers = { field: "upgradedState", schema };
  const { UpgradeResourceStateRequest: requests, UpgradeResourceStateResponse: responses } = wire;
  return sound(server, "UpgradeResourceState", request, requests, responses, { answers });
}

function call(random: Random): Message {
  const { name, parameters, variadic } = random.pick(talosmith.provider.functions);
  const types = [...parameters, ...(variadic === undefined ? [] : [variadic])].map(({ type }) => type);
  const request = wire.CallFunctionRequest.encode({
    name,
    arguments: types.map((type) => toDynamicValue(type, valueOfType(type, random, false))),
  });
  return sound(talosmith, "CallFunction", request, wire.CallFunctionRequest, wire.CallFunctionResponse);
}

function importOrRead(random: Random): Message {
  const type = random.pick(things.provider.resources);
  const schema = schemaOf(type);
  if (random.chance(0.5)) {
    const request = wire.ImportResourceStateRequest.encode({
      ...wire.ImportResourceStateRequest.decode(new Uint8Array(0)),
      typeName: type.name,
      id: random.pick(hostileTexts),
    });
    const { ImportResourceStateRequest: requests, ImportResourceStateResponse: responses } = wire;
    return sound(things, "ImportResourceState", request, requests, responses);
  }
  const currentState = dynamic(schema, objectOfSchema(schema.attributes, random, "state"));
  const request = wire.ReadResourceRequest.encode({
    ...wire.ReadResourceRequest.decode(new Uint8Array(0)),
    typeName: type.name,
    currentState,
    private: nothing,
  });
  const answers = { field: "newState", schema };
  return sound(things, "ReadResource", request, wire.ReadResourceRequest, wire.ReadResourceResponse, { answers });
}

/** Those data sources that ask no machine. */
function readData(random: Random): Message {
  const type = talosmith.dataSource(random.pick(["talosmith_schematic", "talosmith_machine_config"]));
  const schema = schemaOf(type);
  const config = objectOfSchema(schema.attributes, random, "known");
  const request = wire.ReadDataSourceRequest.encode({ typeName: type.name, config: dynamic(schema, config) });
  const before = validate("ValidateDataResourceConfig", talosmith, type, random, config);
  const answers = { field: "state", schema };
  const { ReadDataSourceRequest: requests, ReadDataSourceResponse: responses } = wire;
  return sound(talosmith, "ReadDataSource", request, requests, responses, { before, answers });
}

function spoil(whole: Message, random: Random): Message {
  if (random.chance(0.5)) return whole;
  const { before: _, ...rest } = whole;
  return { ...rest, bytes: mutateBytes(whole.bytes, random), sound: false };
}

function messageTrial(whole: Message): Trial {
  if (whole.sound) return { show: () => shown(whole), run: () => tryMessage(whole), smaller: () => [] };
  return bytesTrial(whole.bytes, (bytes) => tryMessage({ ...whole, bytes }), `${whole.rpc} `);
}

const shown = ({ rpc, bytes, requests }: Message) =>
  `${rpc} ${JSON.stringify(requests.decode(bytes), (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : typeof value === "bigint" ? String(value) : value))}`;

/** Nobody ever sees these words from a provider that guards itself, whatever it was sent. */
const exhausted = /Maximum call stack|Invalid (array|string) length|does not fit into a 32-bit/;

async function tryMessage(whole: Message): Promise<void> {
  const { server, rpc, bytes, requests, responses, answers, before } = whole;
  if (before !== undefined) await tryMessage(before);
  let answer: Record<string, unknown>;
  try {
    answer = responses.decode(
      (await routes[`/tfplugin6.Provider/${rpc}`]?.(server, bytes)) ?? nothing,
    ) as typeof answer;
  } catch (error) {
    if (isMessage(requests, bytes)) throw error;
    throw new TalosError("invalid-input", "no message at all, which gRPC says");
  }
  const diagnostics = (answer.diagnostics ?? (answer.error ? [answer.error] : [])) as readonly wire.Diagnostic[];
  for (const { summary = "", detail = "", text = "" } of diagnostics as (wire.Diagnostic & { text?: string })[]) {
    const all = `${summary} ${detail} ${text}`;
    if (exhausted.test(all) || (whole.sound && /^Fault in/.test(summary))) throw new BrokenPromise(`${rpc}: ${all}`);
    promise((summary + text).trim() !== "", "a diagnostic has a title");
  }
  if (diagnostics.some((each) => each.severity !== wire.Diagnostic_Severity.WARNING))
    throw new TalosError("invalid-input", "refused with diagnostics");
  if (answers !== undefined)
    afterwards("the answer's state is a value of its type", () =>
      fromDynamicValue(answers.schema.type, answer[answers.field] as wire.DynamicValue),
    );
}

function isMessage(requests: wire.MessageFns<unknown>, bytes: Uint8Array): boolean {
  try {
    requests.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function orRefused<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof DiagnosticError ? new TalosError("invalid-input", error.message) : error;
  }
}

/** Values by themselves: what is read is written and read again as the same. */
function codecTrial(random: Random): Trial {
  const schema = random.chance(0.4) ? undefined : schemaOf(random.pick(talosmith.provider.resources));
  const type = schema?.type ?? dynamicType;
  const value = schema === undefined ? null : objectOfSchema(schema.attributes, random, "config");
  const bytes = schema === undefined ? deepDynamic(random) : mutateBytes(toDynamicValue(type, value).msgpack, random);
  return bytesTrial(
    bytes,
    (msgpack) => {
      const read = orRefused(() => fromDynamicValue(type, { msgpack, json: nothing }));
      const again = fromDynamicValue(type, toDynamicValue(type, read));
      promise(valuesEqual(type, read, again), "a value that was read is written and read as the same");
    },
    "value ",
  );
}
