// SPDX-License-Identifier: Apache-2.0
import type { IConstruct } from "constructs";
import { checkSection } from "../check.ts";
import { refuse } from "../errors.ts";
import type { AddonArguments, TalosmithResource } from "../talosmith/bindings.ts";
import { addonArguments } from "./day-two.ts";
import type { AddonProps } from "./setting-props.ts";

/** Without a pod network and what the infrastructure brings, pods of the others may not start. */
const ranks = { podNetwork: 0, infrastructure: 1, other: 2 } as const;

type AddonResource = TalosmithResource<"talosmith_addon">;
type Create = (
  id: string,
  args: Omit<AddonArguments, "endpoints">,
  dependsOn: readonly AddonResource[],
) => AddonResource;

/** The add-ons of a cluster: each depends on those that must be ready before it, in whatever order they are added. */
export class ClusterAddons {
  readonly #owner: IConstruct;
  readonly #create: Create;
  readonly #added = new Map<string, { readonly rank: number; readonly resource: AddonResource }>();

  constructor(owner: IConstruct, create: Create) {
    this.#owner = owner;
    this.#create = create;
  }

  /** Throws for a name that is taken, and for an `after` that was not added before. */
  add(props: AddonProps, kind: keyof typeof ranks): void {
    const { name, after = [], values } = props;
    const place = `add-on ${name}`;
    // YAML text has no schema; Helm reads it.
    const written = typeof values === "string" ? {} : values;
    checkSection(this.#owner, "addons", { ...props, values: written }, place);
    if (this.#added.has(name))
      refuse(this.#owner, `${place}: found a second one; expected a name of its own for each add-on`);
    const unknown = after.filter((other) => !this.#added.has(other));
    if (unknown.length > 0)
      refuse(this.#owner, `${place}: after is ${unknown.join(", ")}; expected add-ons that were added before it`);
    const rank = ranks[kind];
    const first = [...this.#added].filter(([other, added]) => added.rank < rank || after.includes(other));
    const dependsOn = first.map(([, { resource }]) => resource);
    const resource = this.#create(`addon-${name}`, addonArguments(props), dependsOn);
    for (const other of this.#added.values()) if (other.rank > rank) other.resource.dependOn(resource);
    this.#added.set(name, { rank, resource });
  }
}
