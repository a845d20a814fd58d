// SPDX-License-Identifier: Apache-2.0
// In 0.1.0 every machine had blocks of its own: the blocks' names held its pool and its index. States from then are
// carried over by `moved` blocks, so that no machine is replaced.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { jsonIn } from "../../talos/plain-text.ts";
import { addressName, Resource } from "../terraform/index.ts";
import type { Machine } from "./machine.ts";
import type { Pool } from "./pool.ts";

/** What stands at an address of 0.1.0, and where it stands now. */
export interface Move {
  readonly from: string;
  readonly to: string;
}

/** The moves of a pool's machines. `members` are those of machines that may move between pools. */
export function movesOf<Settings>(pool: Pool<Settings>, members: Resource<object> | undefined): readonly Move[] {
  const own = pool.node.findAll().filter((part) => part instanceof Resource && part.forEach === pool.rows.forEach);
  const blocks = [...own, members].filter((part) => part instanceof Resource);
  // Without the app and the stack.
  const above = pool.node.scopes.slice(2).map(({ node }) => node.id);
  return blocks.flatMap((block) => {
    const below = block.node.scopes.slice(pool.node.scopes.length).map(({ node }) => node.id);
    const former = (machine: Machine) => block.formerId?.(machine) ?? [...above, machine.index, ...below].join("/");
    return pool.machines.map((machine) => ({
      from: `${block.terraformResourceType}.${addressName(former(machine).split("/"))}`,
      to: `${block.terraformAddress}[${JSON.stringify(machine.key)}]`,
    }));
  });
}

const members = z.object({
  resources: z.array(
    z.object({ type: z.string(), instances: z.array(z.object({ index_key: z.unknown().optional() })) }),
  ),
});

/** Where the files of an environment are. */
export interface FormerPlaces {
  readonly stateFile: string;
  /** Where Terraform runs, and keeps the states of workspaces. */
  readonly stackFolder: string;
  readonly hclFolder: string;
}

/**
 * Whether something of 0.1.0 is left in a project: a state in a file, or HCL of an environment. HCL that moves stays
 * until a person removes its file, for other states may be left.
 */
export function isFormer({ stateFile, stackFolder, hclFolder }: FormerPlaces): boolean {
  const isOldHcl = /^resource "talosmith_member" "\w+" \{\n(?! *for_each)/m.test(textOf(join(hclFolder, "talos.tf")));
  const states = [stateFile, ...workspaceStates(stackFolder)];
  return states.some(isFormerState) || isOldHcl || textOf(join(hclFolder, "moved.tf")) !== "";
}

/** States in files of workspaces other than the default one. */
function workspaceStates(stackFolder: string): readonly string[] {
  const folder = join(stackFolder, "terraform.tfstate.d");
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, "terraform.tfstate")) : [];
}

/** False for one that is encrypted or empty: Terraform itself reports what is wrong with it. */
function isFormerState(file: string): boolean {
  const state = members.safeParse(jsonIn(textOf(file)));
  const hasNoKeys = state.data?.resources.some(
    ({ type, instances }) => type === "talosmith_member" && instances.some((one) => one.index_key === undefined),
  );
  return hasNoKeys === true;
}

const textOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : "");
