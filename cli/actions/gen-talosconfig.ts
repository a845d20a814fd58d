// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import { encodeTalosconfig, generateTalosconfig, parseLifetime, type Role, roles } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { openSecrets } from "../../talos/secrets/index.ts";
import type { CommandContext } from "../context.ts";
import { writeOutputs } from "./write-outputs.ts";

export interface GenTalosconfigOptions {
  readonly withSecrets: string;
  readonly roles: readonly string[];
  readonly crtTtl: string;
  readonly endpoints: readonly string[];
  readonly nodes: readonly string[];
  readonly output: string;
  readonly force: boolean;
  readonly json: boolean;
}

export async function genTalosconfig(
  name: string,
  options: GenTalosconfigOptions,
  context: CommandContext,
): Promise<void> {
  const secrets = await openSecrets(resolve(context.cwd, options.withSecrets), context.env);
  const ttl = parseLifetime(options.crtTtl);
  const config = generateTalosconfig(secrets, {
    clusterName: name,
    endpoints: options.endpoints,
    ...(options.nodes.length === 0 ? {} : { nodes: options.nodes }),
    roles: options.roles.map(knownRole),
    ttl,
    clock: context.clock,
    entropy: context.entropy,
  });
  if (options.output === "-") {
    context.stdout.write(encodeTalosconfig(config));
    return;
  }
  const file = { path: options.output, content: encodeTalosconfig(config) };
  await writeOutputs([file], { cwd: context.cwd, force: options.force });
  const expires = new Date(context.clock.now().getTime() + ttl).toISOString();
  if (options.json) context.stdout.write(`${JSON.stringify({ file: options.output, context: name, expires })}\n`);
  else context.stderr.write(`Created ${options.output}, valid until ${expires}\n`);
}

/** Throws, with all roles, when the text is none. */
export function knownRole(text: string): Role {
  const role = roles.find((known) => known === text);
  if (role !== undefined) return role;
  throw new TalosError("invalid-input", `${JSON.stringify(text)} is not a role`, {
    hint: `Choose from: ${roles.join(", ")}.`,
  });
}
