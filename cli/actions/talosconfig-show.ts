// SPDX-License-Identifier: Apache-2.0
import { certificateInfo, contextOf, type Talosconfig } from "../../talos/config/index.ts";
import { stringifyYaml } from "../../talos/yaml/index.ts";
import type { CommandContext } from "../context.ts";
import { relativeTime } from "../output/relative-time.ts";
import { openTalosconfig, type TalosconfigFlags } from "./talosconfig.ts";

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
    context.stdout.write(`${JSON.stringify(found)}\n`);
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

export interface ContextInfoFlags extends TalosconfigFlags {
  readonly output: "text" | "json" | "yaml";
}

/** Shows whom the current context is for, or the one that is named, and until when. */
export async function showContext(flags: ContextInfoFlags, context: CommandContext): Promise<void> {
  const { config } = await openTalosconfig(flags, context);
  context.stdout.write(render(describe(config, flags.context, context.clock.now()), flags.output));
}

interface ContextInfo {
  readonly context: string;
  readonly nodes: readonly string[];
  readonly endpoints: readonly string[];
  readonly roles: readonly string[];
  readonly certTTL: string;
  readonly certNotAfter: string;
}

function describe(config: Talosconfig, name: string | undefined, now: Date): ContextInfo {
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

function render(info: ContextInfo, output: ContextInfoFlags["output"]): string {
  if (output === "yaml") return stringifyYaml({ ...info });
  if (output === "json") {
    // talosctl writes lists that the file does not have as null.
    const nullable = (list: readonly string[]) => (list.length === 0 ? null : list);
    const answer = {
      ...info,
      nodes: nullable(info.nodes),
      roles: nullable(info.roles),
    };
    return `${JSON.stringify(answer, undefined, 2)}\n`;
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
