// SPDX-License-Identifier: Apache-2.0
// What a cluster says of the machines of its pools, as expressions over the pools' maps: as long with a hundred machines
// as with three.
import { type ITerraformIterator, Token } from "cdktn";
import type { ArgumentsOf, machineSettings } from "../../model/settings/index.ts";
import { composed, type Print } from "../terraform/index.ts";
import type { MachineRows, MachineSet } from "./machine.ts";
import type { Pool } from "./pool.ts";

type MachineArguments = ArgumentsOf<typeof machineSettings>;

/** A pool that has machines by name. */
export interface MadePool<Settings> {
  readonly pool: Pool<Settings>;
  readonly set: MachineSet;
}

/** A call with each argument on a line of its own, or the argument where there is but one. */
function call(name: string, [first = "", ...others]: readonly string[]): string {
  if (others.length === 0) return first;
  return `${name}(\n${[first, ...others].map((argument) => `  ${argument.replaceAll("\n", "\n  ")},\n`).join("")})`;
}

/** Addresses of all machines of the pools that there are when the stack is written. */
export function addressList<Settings>(pools: () => readonly MadePool<Settings>[]): readonly string[] {
  const list = composed((print) => {
    const lists = pools().map(({ pool: { rows }, set }) => `[${rows.for(print(set.address(rows.loop)))}]`);
    return call("concat", lists.length === 0 ? ["[]"] : lists);
  });
  return Token.asList(list);
}

/** The first of a list, as a list. */
export function firstOf(list: readonly string[]): readonly string[] {
  return Token.asList(composed((print) => call("slice", [print(list), "0", "1"])));
}

/** The machines of a cluster by their names: one entry for all machines of a pool, as a person would write it. */
export function machineMap(
  pools: readonly { readonly rows: MachineRows; readonly entry: MachineArguments }[],
): Readonly<Record<string, MachineArguments>> {
  const map = (print: Print, { rows, entry }: (typeof pools)[number]) =>
    `{ ${rows.for(`${print(rows.loop.name)} => ${print(entry)}`)} }`;
  const machines = composed((print) =>
    call("merge", pools.length === 0 ? ["{}"] : pools.map((pool) => map(print, pool))),
  );
  return machines as unknown as Readonly<Record<string, MachineArguments>>;
}

/** The machines of all pools, for one block. */
export function allRows<Settings>(pools: () => readonly MadePool<Settings>[]): ITerraformIterator {
  const all = composed(() => {
    const maps = pools().map(({ pool }) => pool.rows.expression);
    return maps.length === 1 ? maps.join() : `merge(${maps.join(", ")})`;
  });
  return { _getForEachExpression: () => all, _getForExpressionInput: () => all };
}

/** Lists and references to lists as one; undefined for an empty one. */
export function joinedLists(lists: readonly (readonly string[])[]): readonly string[] | undefined {
  const parts: (readonly string[])[] = [];
  for (const list of lists) {
    const last = parts.at(-1);
    if (last === undefined || Token.isUnresolved(last) || Token.isUnresolved(list)) parts.push(list);
    else parts.splice(-1, 1, [...last, ...list]);
  }
  const [first = [], ...others] = parts.filter((part) => part.length > 0);
  if (others.length === 0) return first.length === 0 ? undefined : first;
  return Token.asList(composed((print) => `concat(${[first, ...others].map((part) => print(part)).join(", ")})`));
}
