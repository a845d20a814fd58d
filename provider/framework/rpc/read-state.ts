// SPDX-License-Identifier: Apache-2.0
import type { Attributes, PlanOf, StateOf } from "../attribute.ts";
import { type Diagnostic, DiagnosticError } from "../diagnostics.ts";
import { type Json, parseJson, valueFromJson } from "../json.ts";
import type { DataRequest } from "../provider.ts";
import type { Operation, Resource } from "../resource.ts";
import { type SchemaSource, schemaOf, withEmptyBlocks } from "../schema.ts";
import type { Server } from "../server.ts";
import { timeoutOf } from "../timeouts.ts";
import { isObject, type ObjectValue, objectValue, type Value } from "../value.ts";

interface ReadResult {
  readonly state: Value;
  readonly diagnostics: readonly Diagnostic[];
}

/** The newest state, and what is kept beside it. A read that fails keeps the old ones. */
export async function readResource<C>(
  server: Server<C>,
  typeName: string,
  state: Value,
  remembered = "",
): Promise<ReadResult & { readonly remembered: string }> {
  const resource = server.resource(typeName);
  if (!isObject(state)) return { state: null, remembered, diagnostics: [] };
  const milliseconds = timeoutOf("read", resource.timeouts ?? {}, state.timeouts ?? null);
  let kept = remembered;
  const remember = (text: string) => {
    kept = text;
  };
  const { result, diagnostics } = await server.run({ name: "read", milliseconds }, async (operation) => {
    if (!isOnlyMoved(remembered))
      return resource.read({ ...operation, state: state as StateOf<Attributes>, remembered, remember });
    remember("");
    const found = (await findMoved(resource, remembered, operation)) as StateOf<Attributes>;
    const read = await resource.read({ ...operation, state: found, remembered: "", remember });
    return read && { ...found, ...read };
  });
  const { attributes } = schemaOf(resource);
  const newest =
    result === undefined ? state : result && withEmptyBlocks(attributes, { ...state, ...(result as ObjectValue) });
  return { state: newest, remembered: result === undefined ? remembered : kept, diagnostics: diagnostics.list };
}

export async function readDataSource<C>(server: Server<C>, typeName: string, config: Value): Promise<ReadResult> {
  const source = server.dataSource(typeName);
  const own = isObject(config) ? config.timeouts : undefined;
  const limit = { name: "read", milliseconds: timeoutOf("read", source.timeouts ?? {}, own ?? null) };
  return fromConfig(server, source, config, limit, (request) => source.read(request));
}

export async function openEphemeralResource<C>(
  server: Server<C>,
  typeName: string,
  config: Value,
): Promise<ReadResult> {
  const ephemeral = server.ephemeralResource(typeName);
  const limit = { name: "open", milliseconds: undefined };
  return fromConfig(server, ephemeral, config, limit, (request) => ephemeral.open(request));
}

/** A value that follows from the configuration, and that no state is kept of between two runs. */
async function fromConfig<C>(
  server: Server<C>,
  type: SchemaSource,
  config: Value,
  limit: Parameters<Server<C>["run"]>[0],
  read: (request: DataRequest<Attributes, C>) => Promise<StateOf<Attributes>>,
): Promise<ReadResult> {
  const given = isObject(config) ? config : {};
  const { result, diagnostics } = await server.run(limit, (operation) =>
    read({ ...operation, config: given as PlanOf<Attributes> }),
  );
  const { attributes } = schemaOf(type);
  const state = result === undefined ? null : withEmptyBlocks(attributes, { ...given, ...(result as ObjectValue) });
  return { state, diagnostics: diagnostics.list };
}

interface ImportResult {
  /** Undefined: nothing was imported, the diagnostics say why. */
  readonly state: Value | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** The first state of an imported resource. Terraform reads it right after. */
export async function importResourceState<C>(server: Server<C>, typeName: string, id: string): Promise<ImportResult> {
  const resource = server.resource(typeName);
  const { result, diagnostics } = await server.run({ name: "import", milliseconds: undefined }, async (operation) => {
    if (resource.import === undefined)
      throw new DiagnosticError({ summary: "Can't be imported", detail: `${typeName} has no import.` });
    return wholeState(resource, (await resource.import({ ...operation, id })) as ObjectValue);
  });
  return { state: result, diagnostics: diagnostics.list };
}

function wholeState(resource: SchemaSource, attributes: ObjectValue): ObjectValue {
  const schema = schemaOf(resource);
  const whole = objectValue(Object.keys(schema.attributes).map((name) => [name, attributes[name] ?? null]));
  return withEmptyBlocks(schema.attributes, whole);
}

interface MovedFrom {
  readonly provider: string;
  readonly type: string;
  /** Its state as JSON. */
  readonly json: string;
}

/** Begins what is kept beside a state that was moved and not yet read. */
const movedMark = "moved:";

/** Whether a state was moved from another type, and no refresh has found out yet what it is. */
export function isOnlyMoved(remembered: string): boolean {
  return remembered.startsWith(movedMark);
}

/** The first state of a resource that a `moved` block leads to from another type. The provider is not configured yet. */
export async function moveResourceState<C>(
  server: Server<C>,
  typeName: string,
  { provider, type, json }: MovedFrom,
): Promise<{ readonly state: Value; readonly remembered: string }> {
  const resource = server.resource(typeName);
  const move = resource.moves?.find((one) => one.type === type);
  if (move === undefined) {
    const possible = resource.moves?.map((one) => one.type).join(", ") ?? "nothing";
    throw new DiagnosticError({
      summary: "Can't be moved",
      detail: `${type} of ${provider} can't become ${typeName}, which can be moved from: ${possible}.`,
    });
  }
  const source = stateFromJson(type, () => parseJson(json)) as Readonly<Record<string, Json>>;
  if ("state" in move)
    return { state: wholeState(resource, (await move.state(source)) as ObjectValue), remembered: "" };
  const remembered = `${movedMark}${JSON.stringify({ type, id: move.idOf(source) })}`;
  return { state: wholeState(resource, {}), remembered };
}

/** What a moved state is, at its first refresh. */
async function findMoved<C>(
  resource: Resource<Attributes, C>,
  remembered: string,
  operation: Operation<C>,
): Promise<ObjectValue> {
  const { type, id } = JSON.parse(remembered.slice(movedMark.length)) as { readonly type: string; readonly id: string };
  const move = resource.moves?.find((one) => one.type === type);
  if (move === undefined || "state" in move) throw new TypeError(`${resource.name} has no move from ${type}`);
  return wholeState(resource, (await move.find({ ...operation, id })) as ObjectValue);
}

/** A stored state, of this schema version or an older one, as a value of the current schema. */
export function upgradeResourceState<C>(server: Server<C>, typeName: string, version: number, json: string): Value {
  const resource = server.resource(typeName);
  const schema = schemaOf(resource);
  if (version > schema.version)
    throw new DiagnosticError({
      summary: "State of a newer provider",
      detail: `The state of ${typeName} has schema version ${version}, this provider knows up to ${schema.version}. Use the newer provider again.`,
    });
  let state = stateFromJson(typeName, () => parseJson(json));
  for (let step = version; step < schema.version; step += 1) {
    const upgrade = resource.upgraders?.[step];
    if (upgrade === undefined || !isObject(state as Value))
      throw new DiagnosticError({
        summary: "State can't be upgraded",
        detail: `There is no way from schema version ${step} of ${typeName} to ${step + 1}.`,
      });
    state = upgrade(state as Readonly<Record<string, Json>>);
  }
  const value = stateFromJson(typeName, () => valueFromJson(schema.type, state));
  if (!isObject(value)) return value;
  const stored = withEmptyBlocks(schema.attributes, value);
  return (resource.recall?.(stored as StateOf<Attributes>) as ObjectValue | undefined) ?? stored;
}

/** A state that was cut off or edited is nobody's fault but the file's. */
function stateFromJson<T extends Json | Value>(typeName: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new DiagnosticError(
      {
        summary: "State can't be read",
        detail: `The state of ${typeName} is not what a provider wrote: ${cause instanceof Error ? cause.message : String(cause)}. Take the state's backup, and apply again.`,
      },
      { cause },
    );
  }
}
