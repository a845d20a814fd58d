// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../errors.ts";
import type { TalosContext, Talosconfig } from "./talosconfig.ts";

export interface Merged {
  readonly config: Talosconfig;
  /** Contexts that had to take another name, because theirs was in use. */
  readonly renames: readonly { readonly from: string; readonly to: string }[];
}

/** Adds the contexts of another talosconfig. Its current context becomes the current one. */
export function mergeTalosconfigs(base: Talosconfig, added: Talosconfig): Merged {
  const contexts = new Map(base.contexts);
  const names = new Map<string, string>();
  for (const [name, context] of added.contexts) {
    const free = freeName(name, contexts);
    names.set(name, free);
    contexts.set(free, context);
  }
  const renames = [...names].filter(([from, to]) => from !== to).map(([from, to]) => ({ from, to }));
  return { config: { context: names.get(added.context) ?? base.context, contexts }, renames };
}

function freeName(name: string, taken: ReadonlyMap<string, TalosContext>): string {
  if (!taken.has(name)) return name;
  let number = 1;
  while (taken.has(`${name}-${number}`)) number += 1;
  return `${name}-${number}`;
}

/** The context of that name, else the current one. Throws `not-found` when there is none. */
export function contextOf(config: Talosconfig, name: string = config.context): TalosContext {
  const context = config.contexts.get(name);
  if (context !== undefined) return context;
  const known = [...config.contexts.keys()].join(", ");
  if (name === "") throw new TalosError("not-found", "no context is set", { hint: `Use one of: ${known || "none"}.` });
  throw new TalosError("not-found", `context ${JSON.stringify(name)} is not defined`, {
    hint: known === "" ? "The talosconfig has no contexts." : `Use one of: ${known}.`,
  });
}

export function selectContext(config: Talosconfig, name: string): Talosconfig {
  contextOf(config, name);
  return { ...config, context: name };
}

/** Changes endpoints or nodes of a context. */
export function changeContext(
  config: Talosconfig,
  name: string,
  change: Partial<Pick<TalosContext, "endpoints" | "nodes">>,
): Talosconfig {
  const contexts = new Map(config.contexts);
  contexts.set(name, { ...contextOf(config, name), ...change });
  return { ...config, contexts };
}

/** Adds a context, in the place of one of that name. */
export function addContext(config: Talosconfig, name: string, context: TalosContext): Talosconfig {
  return { ...config, contexts: new Map([...config.contexts, [name, context]]) };
}

/** Names of the contexts that a pattern means, sorted; `*` stands for any text. */
export function matchingContexts(config: Talosconfig, pattern: string): readonly string[] {
  const parts = pattern.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  const expression = new RegExp(`^${parts.join(".*")}$`, "s");
  return [...config.contexts.keys()].filter((name) => expression.test(name)).sort();
}

export function removeContexts(config: Talosconfig, names: readonly string[]): Talosconfig {
  const kept = [...config.contexts].filter(([name]) => !names.includes(name));
  return { context: names.includes(config.context) ? "" : config.context, contexts: new Map(kept) };
}
