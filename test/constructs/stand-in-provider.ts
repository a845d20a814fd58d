// SPDX-License-Identifier: Apache-2.0
// A provider that has another one's schema and forgets everything but what Terraform's state says: for planning and
// applying whole stacks without a cloud. Started by Terraform as a plugin; the first argument names the provider.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { eventFileVariable, eventsTo } from "../../engine/index.ts";
import {
  type Attribute,
  type Attributes,
  block,
  type DataSource,
  isUnknown,
  listOf,
  mapOf,
  objectOf,
  type Provider,
  type Resource,
  type StateOf,
  setOf,
  type Type,
  typeFromJson,
} from "../../provider/framework/index.ts";
import { serve } from "../../provider/protocol/index.ts";
import type { ClusterState, ClusterWishes } from "../../provider/types/cluster/attributes.ts";
import { checkChange } from "../../provider/types/cluster/rules.ts";
import { talosmithProvider } from "../../provider/types/index.ts";
import { temporaryFolder } from "../../talos/process-folder.ts";
import type { Block, ProviderSchema, Attribute as SchemaAttribute } from "./schema-walker.ts";

const [, , name = "", schemaFile = ""] = process.argv;
type Values = { readonly [key: string]: unknown };
const blocksOf = { single: block.single, list: block.list, set: block.set, map: block.map } as const;
type AnyResource = Resource<Attributes, unknown>;

const stack = JSON.parse(readFileSync(process.env.STAND_IN_STACK ?? "cdk.tf.json", "utf8")) as Record<
  string,
  Record<string, Record<string, Values>>
>;

function fromBlock(source: Block): Attributes {
  const blocks = Object.entries(source.block_types ?? {}).map(([key, inner]) => {
    const options = {
      description: "",
      attributes: fromBlock(inner.block),
      ...(inner.min_items === undefined ? {} : { min: inner.min_items }),
      ...(inner.max_items === undefined ? {} : { max: inner.max_items }),
    };
    return [key, blocksOf[inner.nesting_mode as keyof typeof blocksOf](options)] as const;
  });
  const attributes = Object.entries(source.attributes ?? {}).map(
    ([key, value]) => [key, fromAttribute(value)] as const,
  );
  return Object.fromEntries([...attributes, ...blocks]);
}

function fromAttribute(source: SchemaAttribute): Attribute {
  const inner = source.nested_type;
  if (inner === undefined)
    return { type: typeFromJson(source.type), mode: modeOf(source), description: "", stable: true };
  const attributes = Object.fromEntries(
    Object.entries(inner.attributes).map(([key, value]) => [key, fromAttribute(value)]),
  );
  return nestedAttribute(inner.nesting_mode as "single" | "list" | "set" | "map", attributes, source);
}

function nestedAttribute(
  nesting: "single" | "list" | "set" | "map",
  attributes: Attributes,
  source: SchemaAttribute,
): Attribute {
  const object = objectOf(Object.fromEntries(Object.entries(attributes).map(([key, { type }]) => [key, type])));
  const type: Type = { single: object, list: listOf(object), set: setOf(object), map: mapOf(object) }[nesting];
  return { type, mode: modeOf(source), description: "", nested: { nesting, attributes }, stable: true };
}

/** Texts that others read and check. */
const known: Readonly<Record<string, string>> = { availability_zone: "zone-1", config_contract: "v1.13" };

function modeOf({ required, optional, computed }: SchemaAttribute): Attribute["mode"] {
  if (required) return "required";
  if (optional) return computed ? "defaulted" : "optional";
  return "computed";
}

function standIn(type: Type, label: string, unique: string): unknown {
  // Without underscores: some are used as the name of a host.
  if (type.kind === "string") return known[label] ?? `${label.replaceAll("_", "-")}-${unique}`;
  if (type.kind === "number") return 1;
  if (type.kind === "bool") return false;
  // What a load balancer was given, as far down as a stack looks.
  if (type.kind === "list" && /^(status|load_balancer|ingress)$/.test(label))
    return [standIn(type.element, label, unique)];
  if (type.kind === "object" && /^(status|load_balancer|ingress)$/.test(label))
    return Object.fromEntries(
      Object.entries(type.attributes).map(([key, inner]) => [key, standIn(inner, key, unique)]),
    );
  if (type.kind === "list" || type.kind === "set") return [];
  return type.kind === "map" ? {} : null;
}

function complete(attributes: Attributes, planned: Values, unique: string): StateOf<Attributes> {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, type]) => [key, completeOne(type, planned[key], key, unique)]),
  ) as StateOf<Attributes>;
}

function completeOne({ type, mode, nested }: Attribute, value: unknown, key: string, unique: string): unknown {
  if (isUnknown(value) || (value === null && mode === "computed")) return standIn(type, key, unique);
  const inner = nested?.attributes;
  if (inner === undefined || value === null || value === undefined) return value;
  if (Array.isArray(value)) return value.map((item: Values) => complete(inner, item, unique));
  if (nested?.nesting === "map")
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, complete(inner, item as Values, unique)]),
    );
  return complete(inner, value as Values, unique);
}

function resource(typeName: string, attributes: Attributes): AnyResource {
  return {
    name: typeName,
    description: "",
    attributes,
    create: async ({ planned }) => complete(attributes, planned, randomUUID().slice(0, 8)),
    read: async ({ state }) => state,
    update: async ({ planned }) => complete(attributes, planned, randomUUID().slice(0, 8)),
    delete: async () => undefined,
  };
}

/** What a stack takes apart. */
const found: Readonly<Record<string, Values>> = {
  aws_availability_zones: { names: ["eu-central-1a", "eu-central-1b", "eu-central-1c"] },
};

function dataSource(typeName: string, attributes: Attributes): DataSource<Attributes, unknown> {
  return {
    name: typeName,
    description: "",
    attributes,
    read: async ({ config }) => ({ ...complete(attributes, config, "found"), ...found[typeName] }),
  };
}

/** What the real provider replaces rather than updates, as far as our stacks change it. */
function replacing(typeName: string, attributes: Attributes): Attributes {
  const named = attributes.name;
  return typeName === "libvirt_volume" && named !== undefined
    ? { ...attributes, name: { ...named, replaces: true } }
    : attributes;
}

/** The provider blocks of docker and kubernetes, whose schemas were made of bindings. */
const ofOthers: Attributes = {
  host: { type: typeFromJson("string"), mode: "optional", description: "" },
  config_path: { type: typeFromJson("string"), mode: "optional", description: "" },
  config_context: { type: typeFromJson("string"), mode: "optional", description: "" },
};

function foreign(schema: ProviderSchema): Provider<Attributes, unknown> {
  const used = (kind: "resource" | "data") =>
    Object.entries(schema[kind]).filter(([type]) => stack[kind]?.[type] !== undefined);
  return {
    description: "",
    attributes: schema.provider === undefined ? ofOthers : fromBlock(schema.provider),
    resources: used("resource").map(([type, source]) => resource(type, replacing(type, fromBlock(source)))),
    dataSources: used("data").map(([type, source]) => dataSource(type, fromBlock(source))),
    ephemeralResources: [],
    functions: [],
    actions: [],
    lists: [],
    configure: () => ({}),
  };
}

/** What the real cluster refuses at plan, of a cluster that is there. */
const refuseAsTheRealOne: NonNullable<AnyResource["plan"]> = async ({ prior, planned, diagnostics }) => {
  if (prior !== null)
    await checkChange(prior as unknown as ClusterState, planned as unknown as ClusterWishes, diagnostics, process.env);
  return {};
};

/** The real cluster ends its work when it is healthy, and reports that. */
function reportingHealth(cluster: AnyResource): AnyResource {
  const report = () => {
    const path = process.env[eventFileVariable];
    if (path) eventsTo(path)({ type: "healthy", at: new Date(), message: "the cluster is healthy and up to date" });
  };
  const { create, update } = cluster;
  return {
    ...cluster,
    create: (request) => create(request).finally(report),
    ...(update && { update: (request) => update(request).finally(report) }),
  };
}

/** Our own types with their real schemas, without machines behind them. */
function own(): Provider<Attributes, unknown> {
  const real = talosmithProvider({ workingDirectory: process.cwd(), environment: {}, daemonCommand: ["node"] });
  return {
    ...real,
    resources: real.resources.map(({ name: type, attributes }) =>
      type === "talosmith_cluster"
        ? { ...reportingHealth(resource(type, attributes)), plan: refuseAsTheRealOne }
        : resource(type, attributes),
    ),
    dataSources: real.dataSources.map(({ name: type, attributes }) => dataSource(type, attributes)),
    ephemeralResources: [],
    functions: [],
    actions: [],
    lists: [],
    validate: () => undefined,
    configure: () => ({}),
  } as Provider<Attributes, unknown>;
}

serve(name === "talosmith" ? own() : foreign(JSON.parse(readFileSync(schemaFile, "utf8")) as ProviderSchema), {
  socketFolder: (parent) => temporaryFolder("provider", parent),
});
