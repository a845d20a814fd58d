// SPDX-License-Identifier: Apache-2.0
import {
  changeContext,
  contextOf,
  encodeTalosconfig,
  parseLifetime,
  parseTalosconfig,
} from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import type { CommandContext } from "../context.ts";
import type { TargetFlags } from "../machine/target-flags.ts";
import { forEachTarget } from "../machine/targets.ts";
import { knownRole } from "./gen-talosconfig.ts";
import { openTalosconfig } from "./talosconfig.ts";
import { writeOutputs } from "./write-outputs.ts";

export interface ConfigNewFlags extends TargetFlags {
  readonly roles: readonly string[];
  readonly crtTtl: string;
}

/** Asks a control plane for a client certificate and writes the talosconfig that holds it. */
export async function configNew(file: string, flags: ConfigNewFlags, context: CommandContext): Promise<void> {
  const roles = flags.roles.map(knownRole);
  const ttl = parseLifetime(flags.crtTtl);
  const { config } = await openTalosconfig(flags, context);
  const current = contextOf(config, flags.context);
  const endpoints = flags.endpoints.length > 0 ? flags.endpoints : current.endpoints;
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
