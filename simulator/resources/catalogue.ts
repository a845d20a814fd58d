// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { stringify } from "yaml";
import { clusterOf, configOf, hostnameOf } from "../controllers/membership.ts";
import type { World } from "../machine/world.ts";
import { blockResources } from "./block-resources.ts";
import { ChangeLog } from "./change-log.ts";
import { clusterResources, etcdResources, secretResources } from "./cluster-resources.ts";
import { namespaces, resourceDefinitions, resourceType } from "./definitions.ts";
import type { Item, Source, StoredResource } from "./item.ts";
import { kubernetesResources } from "./kubernetes-resources.ts";
import { networkResources } from "./network-resources.ts";
import { runtimeResources } from "./runtime-resources.ts";
import { shapes } from "./shapes.ts";
import { encodeSpec } from "./spec-codec.ts";

const sources: Readonly<Record<string, Source>> = {
  ...runtimeResources,
  ...clusterResources,
  ...networkResources,
  ...kubernetesResources,
  ...etcdResources,
  ...secretResources,
  ...blockResources,
  "ResourceDefinitions.meta.cosi.dev": { owner: "", items: () => resourceDefinitions },
  "Namespaces.meta.cosi.dev": { owner: "", items: () => namespaces },
};

/** Every resource type that a controller puts out, with the controller's name. */
export function producedTypes(): readonly {
  readonly owner: string;
  readonly namespace: string;
  readonly type: string;
}[] {
  return Object.entries(sources)
    .filter(([, { owner }]) => owner !== "")
    .map(([type, { owner, namespace }]) => ({
      owner,
      namespace: namespace ?? resourceType(type)?.namespace ?? "",
      type,
    }));
}

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
    const source = sources[type];
    if (machine === undefined || source === undefined) return new Map();
    if (machine.bootId !== this.#bootId) {
      this.#types.clear();
      this.#logs.clear();
      this.#bootId = machine.bootId;
    }
    const items = source.items({
      world,
      machine,
      now,
      config: configOf(machine),
      cluster: clusterOf(world, machine),
      hostname: hostnameOf(machine),
    });
    const known = this.#types.get(type);
    const born = known === undefined ? machine.bootedAt : now;
    const next = new Map(items.map((item) => [item.id, store(type, source, item, known?.get(item.id), born, now)]));
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

function store(
  type: string,
  source: Source,
  item: Item,
  known: StoredResource | undefined,
  born: number,
  now: number,
): StoredResource {
  const content = JSON.stringify([item.spec, item.labels, item.annotations, item.version]);
  const hash = createHash("sha1").update(content).digest("base64");
  if (known?.hash === hash) return known;
  const shape = shapes[type];
  return {
    namespace: source.namespace ?? resourceType(type)?.namespace ?? "",
    type,
    id: item.id,
    version: item.version ?? (known?.version ?? 0) + 1,
    owner: source.owner,
    created: known?.created ?? born,
    updated: known === undefined ? born : now,
    labels: item.labels ?? {},
    annotations: item.annotations ?? {},
    yaml: stringify(item.spec, { indent: 4, lineWidth: 0 }),
    proto: shape === undefined ? new Uint8Array() : encodeSpec(shape, item.spec),
    hash,
  };
}
