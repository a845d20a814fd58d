// SPDX-License-Identifier: Apache-2.0
import {
  type Attributes,
  applyResourceChange,
  configureProvider,
  FunctionError,
  identityOf,
  identityType,
  importIdOf,
  importResourceState,
  invokeAction,
  listResources,
  moveResourceState,
  type NamedType,
  objectValue,
  openEphemeralResource,
  type Provider,
  planResourceChange,
  readDataSource,
  readResource,
  Server,
  schemaOf,
  upgradeIdentity,
  upgradeResourceState,
  type Value,
  validateConfig,
} from "../framework/index.ts";
import { toWireDiagnostics, toWirePath } from "./diagnostics.ts";
import * as wire from "./gen/tfplugin6.ts";
import { createLog } from "./hclog.ts";
import { toWireFunction, toWireIdentitySchema, toWireSchema } from "./schema.ts";
import { listen, type ServeOptions, type Session } from "./transport/index.ts";
import { fromDynamicValue, toDynamicValue, writeNumberAsText } from "./value-codec.ts";

/**
 * One RPC: bytes of the request in, bytes of the response out; `send` takes what a call that streams answers before. Throws
 * only when the request is no message at all.
 */
export type Rpc = (
  server: Server,
  request: Uint8Array,
  send?: (message: Uint8Array) => void,
) => Promise<Uint8Array | undefined>;

/**
 * An RPC whose failures are diagnostics. `fallback` is what else the answer must hold then: an answer without a state
 * would make Terraform forget the resource.
 */
function unary<Request, Response extends { diagnostics: wire.Diagnostic[] }>(
  requests: wire.MessageFns<Request>,
  responses: wire.MessageFns<Response>,
  handle: (server: Server, request: Request) => Promise<Response> | Response,
  fallback: (request: Request) => Partial<Response> = () => ({}),
): Rpc {
  return async (server, bytes) => {
    const request = requests.decode(bytes);
    let response: Response;
    try {
      response = await handle(server, request);
    } catch (error) {
      const diagnostics = toWireDiagnostics([server.diagnosticOf(error)]);
      response = { ...responses.decode(new Uint8Array(0)), ...fallback(request), diagnostics };
    }
    return responses.encode(response).finish();
  };
}

const getProviderSchema: Rpc = async ({ provider }) => {
  const schemas = (types: readonly NamedType<Attributes>[]) =>
    Object.fromEntries(types.map((type) => [type.name, toWireSchema(schemaOf(type))]));
  return wire.GetProviderSchemaResponse.encode({
    provider: toWireSchema(schemaOf(provider)),
    resourceSchemas: schemas(provider.resources),
    dataSourceSchemas: schemas(provider.dataSources),
    ephemeralResourceSchemas: schemas(provider.ephemeralResources),
    listResourceSchemas: schemas(provider.lists),
    functions: Object.fromEntries(
      provider.functions.map((definition) => [definition.name, toWireFunction(definition)]),
    ),
    actionSchemas: Object.fromEntries(
      provider.actions.map((action) => [action.name, { schema: toWireSchema(schemaOf(action)) }]),
    ),
    diagnostics: [],
    serverCapabilities: { planDestroy: true, getProviderSchemaOptional: true, moveResourceState: true },
  }).finish();
};

const validateProviderConfig = unary(
  wire.ValidateProviderConfigRequest,
  wire.ValidateProviderConfigResponse,
  async (server, request) => {
    const config = fromDynamicValue(schemaOf(server.provider).type, request.config);
    return { diagnostics: toWireDiagnostics(await validateConfig(server, server.provider, config)) };
  },
);

const getIdentitySchemas: Rpc = async ({ provider }) => {
  const known = provider.resources.flatMap(({ name, identity }) =>
    identity === undefined ? [] : [[name, toWireIdentitySchema(identity)] as const],
  );
  const identitySchemas = Object.fromEntries(known);
  return wire.GetResourceIdentitySchemasResponse.encode({ identitySchemas, diagnostics: [] }).finish();
};

function identityData(
  server: Server,
  typeName: string,
  identity: Value | undefined,
): wire.ResourceIdentityData | undefined {
  const type = identityType(server, typeName);
  return type === undefined || identity === undefined ? undefined : { identityData: toDynamicValue(type, identity) };
}

/** The identity that belongs to a state. */
const identityFor = (server: Server, typeName: string, state: Value) =>
  identityData(server, typeName, identityOf(server, typeName, state));

const upgradeStoredIdentity = unary(
  wire.UpgradeResourceIdentityRequest,
  wire.UpgradeResourceIdentityResponse,
  (server, { typeName, rawIdentity }) => {
    const json = Buffer.from(rawIdentity?.json ?? []).toString("utf8");
    const upgradedIdentity = identityData(server, typeName, upgradeIdentity(server, typeName, json));
    return { upgradedIdentity, diagnostics: [] };
  },
);

/** Resources, data sources, ephemeral resources, actions and lists are asked in the same words. */
const validateTypeConfig = (find: (server: Server, name: string) => NamedType<Attributes>) =>
  unary(wire.ValidateTypeConfigRequest, wire.ValidateTypeConfigResponse, async (server, request) => {
    const type = find(server, request.typeName);
    const config = fromDynamicValue(schemaOf(type).type, request.config);
    const writeOnlyAllowed = request.clientCapabilities?.writeOnlyAttributesAllowed ?? false;
    return { diagnostics: toWireDiagnostics(await validateConfig(server, type, config, { writeOnlyAllowed })) };
  });

const configure = unary(wire.ConfigureProviderRequest, wire.ConfigureProviderResponse, async (server, request) => {
  const config = fromDynamicValue(schemaOf(server.provider).type, request.config);
  return { diagnostics: toWireDiagnostics(await configureProvider(server, config)) };
});

const upgrade = unary(
  wire.UpgradeResourceStateRequest,
  wire.UpgradeResourceStateResponse,
  (server, { typeName, version, rawState }) => {
    const json = Buffer.from(rawState?.json ?? []).toString("utf8");
    const state = upgradeResourceState(server, typeName, Number(version), json);
    return { upgradedState: toDynamicValue(schemaOf(server.resource(typeName)).type, state), diagnostics: [] };
  },
);

const read = unary(
  wire.ReadResourceRequest,
  wire.ReadResourceResponse,
  async (server, request) => {
    const { type } = schemaOf(server.resource(request.typeName));
    const remembered = Buffer.from(request.private).toString("utf8");
    const current = fromDynamicValue(type, request.currentState);
    const read = await readResource(server, request.typeName, current, remembered);
    const { state, diagnostics } = read;
    return {
      // As its state has them: terraform from 1.10 on takes a number of another precision for drift in -refresh-only.
      newState: toDynamicValue(type, state, writeNumberAsText),
      private: Buffer.from(read.remembered, "utf8"),
      newIdentity: identityFor(server, request.typeName, state),
      diagnostics: toWireDiagnostics(diagnostics),
    };
  },
  ({ currentState, private: kept, currentIdentity }) => ({
    newState: currentState,
    private: kept,
    newIdentity: currentIdentity,
  }),
);

const unknownConfig = { reason: wire.Deferred_Reason.RESOURCE_CONFIG_UNKNOWN };

const plan = unary(
  wire.PlanResourceChangeRequest,
  wire.PlanResourceChangeResponse,
  async (server, request) => {
    const { type } = schemaOf(server.resource(request.typeName));
    const { planned, replace, deferred, diagnostics } = await planResourceChange(server, {
      typeName: request.typeName,
      prior: fromDynamicValue(type, request.priorState),
      proposed: fromDynamicValue(type, request.proposedNewState),
      config: fromDynamicValue(type, request.config),
      remembered: Buffer.from(request.priorPrivate).toString("utf8"),
    });
    return {
      plannedState: toDynamicValue(type, planned),
      requiresReplace: replace.map(toWirePath),
      plannedPrivate: request.priorPrivate,
      plannedIdentity: request.priorIdentity,
      diagnostics: toWireDiagnostics(diagnostics),
      // Without that capability, Terraform takes a deferral for an error.
      deferred: deferred && request.clientCapabilities?.deferralAllowed ? unknownConfig : undefined,
    };
  },
  (request) => ({ plannedState: request.proposedNewState, plannedPrivate: request.priorPrivate }),
);

const apply = unary(
  wire.ApplyResourceChangeRequest,
  wire.ApplyResourceChangeResponse,
  async (server, request) => {
    const { type } = schemaOf(server.resource(request.typeName));
    const { state, remembered, diagnostics } = await applyResourceChange(server, {
      typeName: request.typeName,
      prior: fromDynamicValue(type, request.priorState),
      planned: fromDynamicValue(type, request.plannedState),
      config: fromDynamicValue(type, request.config),
      remembered: Buffer.from(request.plannedPrivate).toString("utf8"),
    });
    return {
      newState: toDynamicValue(type, state),
      private: Buffer.from(remembered, "utf8"),
      newIdentity: identityFor(server, request.typeName, state),
      diagnostics: toWireDiagnostics(diagnostics),
    };
  },
  (request) => ({ newState: request.priorState, private: request.plannedPrivate }),
);

const importState = unary(
  wire.ImportResourceStateRequest,
  wire.ImportResourceStateResponse,
  async (server, { typeName, id: typed, identity }) => {
    const { type } = schemaOf(server.resource(typeName));
    const ofIdentity = identityType(server, typeName);
    const id =
      identity?.identityData === undefined || ofIdentity === undefined
        ? typed
        : importIdOf(server, typeName, fromDynamicValue(ofIdentity, identity.identityData));
    const { state, diagnostics } = await importResourceState(server, typeName, id);
    const imported = { typeName, private: new Uint8Array(0), identity };
    return {
      importedResources: state === undefined ? [] : [{ ...imported, state: toDynamicValue(type, state) }],
      diagnostics: toWireDiagnostics(diagnostics),
    };
  },
);

const move = unary(wire.MoveResourceStateRequest, wire.MoveResourceStateResponse, async (server, request) => {
  const { sourceProviderAddress, sourceTypeName, sourceState, targetTypeName } = request;
  const { type } = schemaOf(server.resource(targetTypeName));
  const json = Buffer.from(sourceState?.json ?? []).toString("utf8");
  const from = { provider: sourceProviderAddress, type: sourceTypeName, json };
  const { state, remembered } = await moveResourceState(server, targetTypeName, from);
  return { targetState: toDynamicValue(type, state), targetPrivate: Buffer.from(remembered, "utf8"), diagnostics: [] };
});

const readData = unary(
  wire.ReadDataSourceRequest,
  wire.ReadDataSourceResponse,
  async (server, { typeName, config }) => {
    const { type } = schemaOf(server.dataSource(typeName));
    const { state, diagnostics } = await readDataSource(server, typeName, fromDynamicValue(type, config));
    return { state: toDynamicValue(type, state), diagnostics: toWireDiagnostics(diagnostics) };
  },
);

const openEphemeral = unary(
  wire.OpenEphemeralResourceRequest,
  wire.OpenEphemeralResourceResponse,
  async (server, { typeName, config }) => {
    const { type } = schemaOf(server.ephemeralResource(typeName));
    const { state, diagnostics } = await openEphemeralResource(server, typeName, fromDynamicValue(type, config));
    return { result: toDynamicValue(type, state), diagnostics: toWireDiagnostics(diagnostics) };
  },
);

/** Our ephemeral values hold nothing open; Terraform asks all the same. */
const closeEphemeral: Rpc = async () => wire.CloseEphemeralResourceResponse.encode({ diagnostics: [] }).finish();

/** What its configuration is was checked by the validation; the machines are asked when it is invoked. */
const planAction: Rpc = async () => wire.PlanActionResponse.encode({ diagnostics: [] }).finish();

const invoke: Rpc = async (server, bytes, send = () => {}) => {
  const request = wire.ActionRequest.decode(bytes);
  const event = (type: wire.InvokeActionEvent["type"]) => wire.InvokeActionEvent.encode({ type }).finish();
  const progress = (message: string) => send(event({ $case: "progress", value: { message } }));
  return event({ $case: "completed", value: { diagnostics: await diagnosticsOfAction(server, request, progress) } });
};

const nothingListed = wire.ListResourceEvent.decode(new Uint8Array(0));

const list: Rpc = async (server, bytes, send = () => {}) => {
  const request = wire.ListResourceRequest.decode(bytes);
  const { typeName, includeResourceObject: states } = request;
  const fail = (diagnostics: wire.Diagnostic[]) =>
    wire.ListResourceEvent.encode({ ...nothingListed, diagnostic: diagnostics }).finish();
  try {
    const { type } = schemaOf(server.resource(typeName));
    const config = fromDynamicValue(schemaOf(server.list(typeName)).type, request.config);
    const found = listResources(server, typeName, config, { limit: Number(request.limit), states });
    for (;;) {
      const { done, value } = await found.next();
      if (done) return value.length === 0 ? undefined : fail(toWireDiagnostics(value));
      const identity = identityData(server, typeName, objectValue(Object.entries(value.identity)));
      const resourceObject = value.state === undefined ? undefined : toDynamicValue(type, value.state);
      const diagnostic = toWireDiagnostics(value.diagnostics);
      send(wire.ListResourceEvent.encode({ identity, displayName: value.name, resourceObject, diagnostic }).finish());
    }
  } catch (error) {
    return fail(toWireDiagnostics([server.diagnosticOf(error)]));
  }
};

async function diagnosticsOfAction(
  server: Server,
  { actionType, config }: wire.ActionRequest,
  progress: (sentence: string) => void,
): Promise<wire.Diagnostic[]> {
  try {
    const value = fromDynamicValue(schemaOf(server.action(actionType)).type, config);
    return toWireDiagnostics(await invokeAction(server, actionType, value, progress));
  } catch (error) {
    return toWireDiagnostics([server.diagnosticOf(error)]);
  }
}

/** The one RPC that has an error of its own in place of diagnostics. */
const callFunction: Rpc = async (server, bytes) =>
  wire.CallFunctionResponse.encode(await answerOf(server, wire.CallFunctionRequest.decode(bytes))).finish();

async function answerOf(server: Server, request: wire.CallFunctionRequest): Promise<wire.CallFunctionResponse> {
  try {
    const definition = server.function(request.name);
    const { parameters, variadic } = definition;
    const values = request.arguments.map((argument, index) => {
      const parameter = parameters[index] ?? variadic;
      if (parameter === undefined) throw new TypeError(`${definition.name} takes ${parameters.length} arguments`);
      return fromDynamicValue(parameter.type, argument);
    });
    return { result: toDynamicValue(definition.returns, await definition.call(values)), error: undefined };
  } catch (error) {
    const argument = error instanceof FunctionError ? error.argument : undefined;
    const text = error instanceof FunctionError ? error.message : server.diagnosticOf(error).detail;
    return {
      result: undefined,
      error: argument === undefined ? { text } : { text, functionArgument: BigInt(argument) },
    };
  }
}

/** Ctrl-C. Answers at once; the operations stop at their next safe point. */
const stop: Rpc = async (server) => {
  server.stop();
  return wire.StopProviderResponse.encode({ error: "" }).finish();
};

/** The RPCs we answer. Of the others Terraform is told that they are not implemented, which it accepts. */
export const routes: Readonly<Record<string, Rpc>> = {
  "/tfplugin6.Provider/GetProviderSchema": getProviderSchema,
  "/tfplugin6.Provider/ValidateProviderConfig": validateProviderConfig,
  "/tfplugin6.Provider/ValidateResourceConfig": validateTypeConfig((server, name) => server.resource(name)),
  "/tfplugin6.Provider/ValidateDataResourceConfig": validateTypeConfig((server, name) => server.dataSource(name)),
  "/tfplugin6.Provider/ValidateEphemeralResourceConfig": validateTypeConfig((server, name) =>
    server.ephemeralResource(name),
  ),
  "/tfplugin6.Provider/ConfigureProvider": configure,
  "/tfplugin6.Provider/UpgradeResourceState": upgrade,
  "/tfplugin6.Provider/ReadResource": read,
  "/tfplugin6.Provider/PlanResourceChange": plan,
  "/tfplugin6.Provider/ApplyResourceChange": apply,
  "/tfplugin6.Provider/ImportResourceState": importState,
  "/tfplugin6.Provider/MoveResourceState": move,
  "/tfplugin6.Provider/ReadDataSource": readData,
  "/tfplugin6.Provider/OpenEphemeralResource": openEphemeral,
  "/tfplugin6.Provider/CloseEphemeralResource": closeEphemeral,
  "/tfplugin6.Provider/ValidateActionConfig": validateTypeConfig((server, name) => server.action(name)),
  "/tfplugin6.Provider/PlanAction": planAction,
  "/tfplugin6.Provider/InvokeAction": invoke,
  "/tfplugin6.Provider/GetResourceIdentitySchemas": getIdentitySchemas,
  "/tfplugin6.Provider/UpgradeResourceIdentity": upgradeStoredIdentity,
  "/tfplugin6.Provider/ValidateListResourceConfig": validateTypeConfig((server, name) => server.list(name)),
  "/tfplugin6.Provider/ListResource": list,
  "/tfplugin6.Provider/CallFunction": callFunction,
  "/tfplugin6.Provider/StopProvider": stop,
};

/** A provider behind the RPCs of the plugin protocol. */
export function openSession(provider: Provider<Attributes, unknown>): Session {
  const server = new Server(provider, createLog());
  return {
    handler: (path) => {
      const rpc = routes[path];
      return rpc && ((message, send) => rpc(server, message, send));
    },
    stop: () => server.stop(),
  };
}

/** Runs a provider as Terraform's child process, until Terraform says so or is gone. */
export function serve(provider: Provider<Attributes, unknown>, options: ServeOptions): void {
  listen(async () => openSession(provider), options);
}
