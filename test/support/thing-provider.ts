// SPDX-License-Identifier: Apache-2.0
// A small provider for the tests of framework and protocol: things are JSON files in a directory.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Action,
  type Attributes,
  attribute,
  block,
  type ConfigOf,
  type DataSource,
  DiagnosticError,
  type EphemeralResource,
  FunctionError,
  isUnknown,
  type PlanOf,
  type Provider,
  type ProviderFunction,
  path,
  type Resource,
  type StateOf,
  stringType,
} from "../../provider/framework/index.ts";

interface Client {
  readonly directory: string;
}

const attributes = {
  name: attribute.required.string("Name of the thing.", {
    replaces: true,
    validators: [
      (value, where, diagnostics) => {
        if (!/^[a-z-]+$/.test(value))
          diagnostics.error({ summary: "Bad name", detail: `Found ${value}. Use small letters.`, path: where });
      },
    ],
  }),
  color: attribute.defaulted.string("Color.", { default: "grey" }),
  size: attribute.optional.number("Size."),
  ratio: attribute.optional.number("Ratio."),
  tags: attribute.optional.stringSet("Tags."),
  labels: attribute.optional.stringMap("Labels."),
  text: attribute.optional.string("Any text."),
  secret: attribute.optional.string("Kept in the file only.", { writeOnly: true }),
  password: attribute.optional.string("Hidden in output.", { sensitive: true }),
  parts: attribute.optional.nestedMap("Parts by name.", {
    count: attribute.required.integer("How many.", {
      validators: [
        (value, where, diagnostics) => {
          if (value < 1) diagnostics.error({ summary: "Too few", detail: `Found ${value}.`, path: where });
        },
      ],
    }),
    kind: attribute.defaulted.string("Kind.", { default: "screw" }),
    serial: attribute.computed.string("Made by us.", { stable: true }),
  }),
  rule: block.list({
    max: 3,
    description: "Rules, in order.",
    attributes: {
      action: attribute.required.string("What to do.", {
        validators: [
          (value, where, diagnostics) => {
            if (value === "forbidden") diagnostics.error({ summary: "Not allowed", detail: "Not that.", path: where });
          },
        ],
      }),
      weight: attribute.defaulted.integer("How much.", { default: 10 }),
      serial: attribute.computed.string("Made by us.", { stable: true }),
      when: block.set({
        min: 1,
        description: "When to do it.",
        attributes: {
          field: attribute.required.string("Which field."),
          values: attribute.optional.stringList("Any of these."),
          negate: attribute.defaulted.bool("Or none of them.", { default: false }),
        },
      }),
    },
  }),
  disk: block.map({
    description: "Disks by name.",
    attributes: { gigabytes: attribute.required.integer("Size.") },
  }),
  owner: block.single({
    description: "Whose it is.",
    attributes: { email: attribute.required.string("Address.") },
  }),
  delay: attribute.optional.integer("Milliseconds that a change takes."),
  fail: attribute.optional.string("`create`, `update`, `delete` or `crash`."),
  id: attribute.computed.string("Identity.", { stable: true }),
  revision: attribute.computed.integer("Raised by each change."),
} satisfies Attributes;

type Thing = StateOf<typeof attributes>;

const thing: Resource<typeof attributes, Client> = {
  name: "thing_thing",
  description: "A thing.",
  version: 1,
  attributes,
  timeouts: { create: "1m", update: "1m", delete: "1m" },
  upgraders: { 0: ({ title, ...state }) => ({ ...state, name: title ?? null }) },

  validate({ config, diagnostics }) {
    if (config.color === "red" && config.size === 0)
      diagnostics.error({ summary: "Contradiction", detail: "Nothing red is that small.", path: path("size") });
  },
  planDelete({ state }) {
    if (state.labels?.protected === "true")
      throw new DiagnosticError({ summary: "Protected", detail: "Take the label off first.", path: path("labels") });
  },
  async create({ planned, config, client, signal }) {
    await work(planned, signal);
    if (planned.fail === "create") throw new DiagnosticError({ summary: "Told to fail", detail: "As configured." });
    if (planned.fail === "crash")
      setImmediate(() => {
        throw new Error("crashed on purpose");
      });
    if (planned.fail === "crash") await sleep(1000);
    const state = complete(planned, planned.name, 1);
    store(client, state, config.secret);
    return state;
  },
  async read({ state, client }) {
    const found = load(client, state.id ?? "");
    return found === undefined ? null : { ...state, ...found };
  },
  async update({ prior, planned, config, client, signal, save }) {
    const state = complete(planned, prior.id ?? "", Number(prior.revision) + 1);
    if (planned.fail === "update") save({ ...prior, revision: state.revision });
    await work(planned, signal);
    if (planned.fail === "update") throw new DiagnosticError({ summary: "Told to fail", detail: "As configured." });
    store(client, state, config.secret);
    return state;
  },
  async delete({ state, client }) {
    if (state.fail === "delete") throw new DiagnosticError({ summary: "Told to fail", detail: "As configured." });
    rmSync(file(client, state.id ?? ""));
  },
  import: ({ id, client }) => find(id, client),
  moves: [
    { type: "other_known", state: async ({ title }) => ({ name: String(title), id: String(title) }) },
    { type: "other_named", idOf: ({ title }) => String(title), find: ({ id, client }) => find(id, client) },
  ],
};

async function find(id: string, client: Client): Promise<Partial<Thing>> {
  const found = load(client, id);
  if (found === undefined) throw new DiagnosticError({ summary: "No such thing", detail: `There is no ${id}.` });
  return found;
}

function complete(planned: PlanOf<typeof attributes>, id: string, revision: number): Thing {
  const parts = Object.entries(planned.parts ?? {}).map(([key, part]) => {
    const serial = isUnknown(part.serial) ? `${id}/${key}` : part.serial;
    return [key, { ...part, serial }] as const;
  });
  return {
    ...planned,
    color: isUnknown(planned.color) ? null : planned.color,
    parts: planned.parts === null ? null : Object.fromEntries(parts),
    rule: planned.rule.map((rule, index) => ({
      ...rule,
      serial: isUnknown(rule.serial) ? `${id}/rule/${index}` : rule.serial,
    })),
    secret: null,
    id,
    revision,
  };
}

async function work(planned: PlanOf<typeof attributes>, signal: AbortSignal): Promise<void> {
  if (planned.delay !== null) await sleep(planned.delay, undefined, { signal });
}

const file = ({ directory }: Client, id: string) => join(directory, `${id}.json`);

function store(client: Client, state: Thing, secret: string | null): void {
  mkdirSync(client.directory, { recursive: true });
  const { name, color, id, revision, labels } = state;
  writeFileSync(file(client, id ?? ""), JSON.stringify({ name, color, id, revision, labels, kept: secret }));
}

function load(client: Client, id: string): Partial<Thing> | undefined {
  try {
    const { kept: _, ...stored } = JSON.parse(readFileSync(file(client, id), "utf8"));
    return stored;
  } catch {
    return undefined;
  }
}

const echoAttributes = {
  text: attribute.required.string("In."),
  length: attribute.computed.integer("Out."),
} satisfies Attributes;

const echo: DataSource<typeof echoAttributes, Client> = {
  name: "thing_echo",
  description: "Measures a text.",
  attributes: echoAttributes,
  read: async ({ config }) => ({ text: config.text, length: config.text.length }),
};

const key: EphemeralResource<typeof echoAttributes, Client> = {
  name: "thing_key",
  description: "A text that is stored nowhere.",
  attributes: echoAttributes,
  open: async ({ config }) => ({ text: config.text, length: config.text.length }),
};

const say: Action<typeof echoAttributes, Client> = {
  name: "thing_say",
  description: "Says a text, letter by letter.",
  attributes: echoAttributes,
  invoke: async ({ config, progress }) => {
    for (const letter of config.text) progress(letter);
    if (config.text === "fail")
      throw new DiagnosticError({ summary: "Bad text", detail: "It fails.", path: path("text") });
  },
};

const join_: ProviderFunction = {
  name: "join",
  summary: "Joins texts.",
  description: "Joins texts with a dash.",
  parameters: [{ name: "first", type: stringType, description: "First text." }],
  variadic: { name: "more", type: stringType, description: "More texts." },
  returns: stringType,
  call: (values) => {
    if (values[0] === "") throw new FunctionError("must not be empty", 0);
    return values.join("-");
  },
};

const providerAttributes = {
  directory: attribute.required.string("Where things are."),
} satisfies Attributes;

export const thingProvider: Provider<typeof providerAttributes, Client> = {
  description: "Things.",
  attributes: providerAttributes,
  resources: [thing],
  dataSources: [echo],
  ephemeralResources: [key],
  functions: [join_],
  actions: [say],
  lists: [],
  configure({
    config,
    log,
  }: {
    config: ConfigOf<typeof providerAttributes>;
    log: (level: "info", text: string) => void;
  }) {
    log("info", "configured");
    return { directory: typeof config.directory === "string" ? config.directory : "" };
  },
};
