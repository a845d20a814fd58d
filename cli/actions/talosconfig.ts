// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import {
  addContext,
  certificateInfo,
  changeContext,
  contextOf,
  encodeTalosconfig,
  findTalosconfig,
  matchingContexts,
  mergeTalosconfigs,
  parseLifetime,
  parseTalosconfig,
  readTalosconfig,
  removeContexts,
  selectContext,
  type TalosContext,
  type Talosconfig,
  writeTalosconfig,
} from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { belongTogether, checkKey, loadCertificate } from "../../talos/pki/index.ts";
import { stringifyYaml } from "../../talos/yaml/index.ts";
import { confirmed } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import type { TargetFlags } from "../machine/target-flags.ts";
import { endpointsOf, forEachTarget, talosContext } from "../machine/targets.ts";
import { relativeTime } from "../output/relative-time.ts";
import { jsonLine, jsonText } from "../output/table.ts";
import { knownRoles } from "./gen.ts";
import { readText, writeOutputs } from "./user-files.ts";

export interface TalosconfigFlags {
  readonly talosconfig?: string;
  readonly context?: string;
}

/** The talosconfig that the flags mean, and where it lies. One that is not there yet is empty. */
async function openTalosconfig(
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

interface AddContextFlags extends TalosconfigFlags {
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

interface RemoveContextFlags extends TalosconfigFlags {
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

/** Lists the contexts, the current one marked. */
export async function showContexts(
  flags: TalosconfigFlags & { readonly json: boolean },
  context: CommandContext,
): Promise<void> {
  const { config } = await openTalosconfig(flags, context);
  const names = [...config.contexts.keys()].sort();
  const found = names.map((name) => {
    const { endpoints, nodes = [] } = contextOf(config, name);
    return { name, current: name === config.context, endpoints, nodes };
  });
  if (flags.json) {
    context.stdout.write(jsonLine({ v: 1, contexts: found }));
    return;
  }
  const rows = found.map(({ name, current, endpoints, nodes }) => {
    const shown = nodes.length > 3 ? `${nodes.slice(0, 3).join(",")}...` : nodes.join(",");
    return [current ? "*" : "", name, endpoints.join(","), shown];
  });
  context.stdout.write(padded([["CURRENT", "NAME", "ENDPOINTS", "NODES"], ...rows]));
}

/** Every cell but the last as wide as its column, as talosctl pads it. */
function padded(rows: readonly (readonly string[])[]): string {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const cells = (row: readonly string[]) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(width(column) + 3)));
  return rows.map((row) => `${cells(row).join("")}\n`).join("");
}

interface ContextInfoFlags extends TalosconfigFlags {
  readonly output: "text" | "json" | "yaml";
  /** The same as `output` json. */
  readonly json: boolean;
}

/** Shows whom the current context is for, or the one that is named, and until when. */
export async function showContext(flags: ContextInfoFlags, context: CommandContext): Promise<void> {
  const { config } = await openTalosconfig(flags, context);
  const info = describe(config, flags.context, context.clock.now());
  context.stdout.write(render(info, flags.json ? "json" : flags.output));
}

function describe(config: Talosconfig, name: string | undefined, now: Date) {
  const current = contextOf(config);
  const chosen = name === undefined ? current : contextOf(config, name);
  const certificate = certificateInfo(chosen);
  return {
    context: config.context,
    nodes: chosen.nodes ?? [],
    endpoints: chosen.endpoints,
    roles: certificate?.roles ?? [],
    certTTL: certificate === undefined ? "" : relativeTime(certificate.notAfter, now),
    certNotAfter: certificate?.notAfter.toISOString().slice(0, 10) ?? "",
  };
}

function render(info: ReturnType<typeof describe>, output: ContextInfoFlags["output"]): string {
  if (output === "yaml") return stringifyYaml({ ...info });
  if (output === "json") {
    // talosctl writes lists that the file does not have as null.
    const nullable = (list: readonly string[]) => (list.length === 0 ? null : list);
    const answer = {
      ...info,
      nodes: nullable(info.nodes),
      roles: nullable(info.roles),
    };
    return jsonText(answer);
  }
  const list = (items: readonly string[]) => (items.length === 0 ? "not defined" : items.join(", "));
  return [
    `Current context:     ${info.context}\n`,
    `Nodes:               ${list(info.nodes)}\n`,
    `Endpoints:           ${list(info.endpoints)}\n`,
    info.roles.length === 0 ? "" : `Roles:               ${info.roles.join(", ")}\n`,
    info.certTTL === "" ? "" : `Certificate expires: ${info.certTTL} (${info.certNotAfter})\n`,
  ].join("");
}

interface ConfigNewFlags extends TargetFlags {
  /** @default os:admin */
  readonly roles?: readonly string[];
  readonly crtTtl: string;
}

/** Asks a control plane for a client certificate and writes the talosconfig that holds it. */
export async function configNew(file: string, flags: ConfigNewFlags, context: CommandContext): Promise<void> {
  const roles = knownRoles(flags.roles);
  const ttl = parseLifetime(flags.crtTtl);
  const current = await talosContext(flags, context);
  const endpoints = endpointsOf(flags, current, context);
  const [node, ...more] = flags.nodes.length > 0 ? flags.nodes : (current.nodes ?? endpoints);
  if (flags.nodes.length > 1 || (flags.nodes.length === 0 && current.nodes !== undefined && more.length > 0)) {
    throw new TalosError("invalid-input", 'command "talosconfig" is not supported with multiple nodes', {
      hint: "Name one control plane with -n.",
    });
  }
  await forEachTarget({ ...flags, nodes: node === undefined ? [] : [node] }, context, async ({ client, call }) => {
    const text = await client.generateClientConfiguration({ roles, ttl }, call);
    const made = parseTalosconfig(text, "the talosconfig of the machine");
    const useful = changeContext(made, made.context, { endpoints });
    await writeOutputs([{ path: file, content: encodeTalosconfig(useful) }], { cwd: context.cwd, force: false });
  });
}
