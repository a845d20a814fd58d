// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import {
  addContext,
  changeContext,
  contextOf,
  findTalosconfig,
  matchingContexts,
  mergeTalosconfigs,
  readTalosconfig,
  removeContexts,
  selectContext,
  type TalosContext,
  type Talosconfig,
  writeTalosconfig,
} from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { belongTogether, checkKey, loadCertificate } from "../../talos/pki/index.ts";
import { confirmed } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { readText } from "./read-text.ts";

export interface TalosconfigFlags {
  readonly talosconfig?: string;
  readonly context?: string;
}

/** The talosconfig that the flags mean, and where it lies. One that is not there yet is empty. */
export async function openTalosconfig(
  flags: TalosconfigFlags,
  { cwd, env }: CommandContext,
): Promise<{ readonly path: string; readonly config: Talosconfig }> {
  const path = resolve(cwd, flags.talosconfig ?? (await findTalosconfig(env)));
  return { path, config: await readTalosconfig(path, { missing: "empty" }) };
}

/** Sets endpoints or nodes of the current context, or of the one that is named. */
export async function setAddresses(
  field: "endpoints" | "nodes",
  addresses: readonly string[],
  flags: TalosconfigFlags,
  context: CommandContext,
): Promise<void> {
  const { path, config } = await openTalosconfig(flags, context);
  contextOf(config);
  const change = { [field]: addresses.map((address) => address.trim()) };
  await writeTalosconfig(path, changeContext(config, flags.context ?? config.context, change));
}

export async function useContext(name: string, flags: TalosconfigFlags, context: CommandContext): Promise<void> {
  const { path, config } = await openTalosconfig(flags, context);
  await writeTalosconfig(path, selectContext(config, name));
}

export async function mergeContexts(from: string, flags: TalosconfigFlags, context: CommandContext): Promise<void> {
  const { path, config } = await openTalosconfig(flags, context);
  const merged = mergeTalosconfigs(config, await readTalosconfig(resolve(context.cwd, from)));
  for (const rename of merged.renames) {
    const names = [rename.from, rename.to].map((name) => JSON.stringify(name)).join(" -> ");
    context.stderr.write(`renamed talosconfig context ${names}\n`);
  }
  await writeTalosconfig(path, merged.config);
}

export interface AddContextFlags extends TalosconfigFlags {
  readonly ca?: string;
  readonly crt?: string;
  readonly key?: string;
}

/** Adds a context with the certificates of the files, in the place of one of that name. */
export async function addNewContext(name: string, flags: AddContextFlags, context: CommandContext): Promise<void> {
  const { path, config } = await openTalosconfig(flags, context);
  await writeTalosconfig(path, addContext(config, name, await contextFrom(flags, context)));
}

async function contextFrom(flags: AddContextFlags, { cwd }: CommandContext): Promise<TalosContext> {
  if ((flags.crt === undefined) !== (flags.key === undefined)) {
    throw new TalosError("invalid-input", "if either the 'crt' or 'key' flag is specified, both are required");
  }
  const read = async (file: string | undefined) => (file === undefined ? "" : readText(file, cwd));
  const [ca, certificate, key] = await Promise.all([read(flags.ca), read(flags.crt), read(flags.key)]);
  if (flags.ca !== undefined) loadCertificate(ca, flags.ca);
  if (flags.crt !== undefined && flags.key !== undefined) {
    loadCertificate(certificate, flags.crt);
    checkKey(key, flags.key);
    if (!belongTogether({ certificate, key })) {
      throw new TalosError("invalid-input", `${flags.key} is not the key of the certificate ${flags.crt}`);
    }
  }
  if (ca !== "" && certificate !== "") return { endpoints: [], credentials: { ca, certificate, key } };
  return { endpoints: [], incomplete: { ...(ca && { ca }), ...(certificate && { certificate, key }) } };
}

export interface RemoveContextFlags extends TalosconfigFlags {
  readonly noconfirm: boolean;
  readonly dryRun: boolean;
}

/** Removes the contexts that the pattern means; never the current one. */
export async function removeMatching(
  pattern: string,
  flags: RemoveContextFlags,
  context: CommandContext,
): Promise<void> {
  const { path, config } = await openTalosconfig(flags, context);
  if (config.contexts.size === 0) throw new TalosError("not-found", "no contexts defined");
  const matches = matchingContexts(config, pattern);
  if (matches.length === 0) throw new TalosError("not-found", `no contexts matched ${JSON.stringify(pattern)}`);
  const removed: string[] = [];
  for (const name of matches) {
    const quoted = JSON.stringify(name);
    if (name === config.context) {
      const advice = "please change it to another before removing";
      context.stderr.write(`skipping removal of current context ${quoted}, ${advice}\n`);
    } else if (!flags.noconfirm) {
      if (await confirmed(`remove context ${quoted}?`, context)) removed.push(name);
    } else {
      context.stderr.write(`removing context ${quoted}\n`);
      removed.push(name);
    }
  }
  if (flags.dryRun || removed.length === 0) return;
  await writeTalosconfig(path, removeContexts(config, removed));
}
