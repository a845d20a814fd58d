// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { stringify } from "yaml";
import { given } from "../../talos/given.ts";
import { clusterOf, configOf, hostnameOf } from "../controllers/membership.ts";
import type { World } from "../machine/world.ts";
import { blockResources } from "./block-resources.ts";
import { ChangeLog } from "./change-log.ts";
import { clusterResources, etcdResources, secretResources } from "./cluster-resources.ts";
import type { Item, Producer, StoredResource } from "./item.ts";
import { kubernetesResources } from "./kubernetes-resources.ts";
import { networkResources } from "./network-resources.ts";
import { runtimeResources } from "./runtime-resources.ts";
import { shapes } from "./shapes.ts";
import { encodeSpec } from "./spec-codec.ts";
import { type ResourceType, resourceTypes } from "./types.ts";

const producers: Readonly<Record<string, Producer>> = {
  ...runtimeResources,
  ...clusterResources,
  ...networkResources,
  ...kubernetesResources,
  ...etcdResources,
  ...secretResources,
  ...blockResources,
  "ResourceDefinitions.meta.cosi.dev": () => resourceDefinitions,
  "Namespaces.meta.cosi.dev": () => namespaces,
};

/** Every resource type that a controller puts out. */
export const producedTypes: readonly ResourceType[] = resourceTypes.filter(({ owner }) => owner !== "");

/** Keeps versions and times of one machine's resources; a boot starts them anew. */
export class Catalogue {
  readonly #machineId: string;
  readonly #types = new Map<string, ReadonlyMap<string, StoredResource>>();
  readonly #logs = new Map<string, ChangeLog>();
  #bootId = "";

  constructor(machineId: string) {
    this.#machineId = machineId;
  }

  /** All resources of a type as they are now, by id. */
  list(world: World, type: string, now: number): ReadonlyMap<string, StoredResource> {
    const machine = world.machines[this.#machineId];
    const produce = producers[type];
    if (machine === undefined || produce === undefined) return new Map();
    if (machine.bootId !== this.#bootId) {
      this.#types.clear();
      this.#logs.clear();
      this.#bootId = machine.bootId;
    }
    const items = produce({
      world,
      machine,
      now,
      config: configOf(machine),
      cluster: clusterOf(world, machine),
      hostname: hostnameOf(machine),
    });
    const known = this.#types.get(type);
    const born = known === undefined ? machine.bootedAt : now;
    const next = new Map(items.map((item) => [item.id, store(type, item, known?.get(item.id), born, now)]));
    this.#types.set(type, next);
    if (known !== undefined) this.#logs.get(type)?.record(known, next);
    return next;
  }

  /** The changes of a type since somebody first watched it, up to now. */
  log(world: World, type: string, now: number): ChangeLog {
    this.list(world, type, now);
    const log = this.#logs.get(type) ?? new ChangeLog();
    this.#logs.set(type, log);
    return log;
  }

  /** What this boot's bookmarks begin with. */
  get cookie(): Uint8Array {
    return createHash("sha256").update(`${this.#machineId}/${this.#bootId}`).digest().subarray(0, 8);
  }
}

function store(type: string, item: Item, known: StoredResource | undefined, born: number, now: number): StoredResource {
  const content = JSON.stringify([item.spec, item.labels, item.annotations, item.version]);
  const hash = createHash("sha1").update(content).digest("base64");
  if (known?.hash === hash) return known;
  const shape = shapes[type];
  const { namespace = "", owner = "" } = resourceType(type) ?? {};
  return {
    namespace,
    type,
    id: item.id,
    version: item.version ?? (known?.version ?? 0) + 1,
    owner,
    created: known?.created ?? born,
    updated: known === undefined ? born : now,
    labels: item.labels ?? {},
    annotations: item.annotations ?? {},
    yaml: stringify(item.spec, { indent: 4, lineWidth: 0 }),
    proto: shape === undefined ? new Uint8Array() : encodeSpec(shape, item.spec),
    hash,
  };
}

/** Two types share the first part of their name; the older one has only the alias it was given. */
const shadowed: ReadonlySet<string> = new Set(["MountStatuses.runtime.talos.dev"]);

/** The resource definitions that talosctl reads to resolve names and print tables. */
export const resourceDefinitions: readonly Item[] = resourceTypes.map((type) => ({
  id: type.type.toLowerCase(),
  spec: definitionSpec(type),
}));

const byType = new Map(resourceTypes.map((type) => [type.type, type]));

export function resourceType(type: string): ResourceType | undefined {
  return byType.get(type);
}

const namespaceNames = [
  ...new Set(["cluster-raw", "network-config", ...resourceTypes.map((type) => type.namespace)]),
].sort();

export const namespaces: readonly Item[] = namespaceNames.map((id) => ({
  id,
  spec: { description: `${id} resources` },
}));

function definitionSpec(type: ResourceType): Readonly<Record<string, unknown>> {
  const [plural = "", ...suffix] = type.type.split(".");
  const aliases = shadowed.has(type.type) ? [...type.aliases] : [...type.aliases, ...derivedAliases(plural)];
  const lower = plural.toLowerCase();
  const dotted = suffix.map((_, index) => [lower, ...suffix.slice(0, index + 1)].join(".")).slice(0, -1);
  return given({
    type: type.type,
    displayType: singular(plural),
    aliases,
    allAliases: [lower, ...aliases, ...dotted],
    defaultNamespace: type.namespace,
    printColumns: type.columns.map((column) => {
      const split = column.indexOf("=");
      return { name: column.slice(0, split), jsonPath: column.slice(split + 1) };
    }),
    sensitivity: type.secret ? "sensitive" : undefined,
  });
}

/** Singular, and the capitals of the name when there is more than one. */
function derivedAliases(plural: string): string[] {
  const capitals = plural.replace(/[^A-Z]/g, "").toLowerCase();
  const aliases = [singular(plural).toLowerCase()];
  if (capitals.length > 1) aliases.push(capitals);
  if (capitals.length > 1 && !capitals.endsWith("s")) aliases.push(`${capitals}s`);
  return aliases;
}

/** As the resource library forms it, mistakes included (`caches` gives `cach`). */
function singular(plural: string): string {
  if (plural.endsWith("ies")) return `${plural.slice(0, -3)}y`;
  if (/(ss|us|ch|sh|x)es$/.test(plural)) return plural.slice(0, -2);
  return plural.slice(0, -1);
}
