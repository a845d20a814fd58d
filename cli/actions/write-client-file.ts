// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import { fetchKubeconfig } from "../../engine/index.ts";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { type ClientFile, parseLifetime } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { clientFilePaths, type TalosconfigLimits, talosconfigText } from "../../workspace/client-files.ts";
import { mergeIntoUserKubeconfig } from "../../workspace/user-kubeconfig.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { jsonLine } from "../output/table.ts";
import { knownRoles } from "./gen.ts";

export interface ClientFileFlags {
  readonly force: boolean;
  readonly json: boolean;
  /** Of a kubeconfig only. */
  readonly merge?: boolean;
  /** Of a talosconfig only. */
  readonly roles?: readonly string[];
  readonly crtTtl?: string;
}

export async function writeClientFile(
  file: ClientFile,
  name: string,
  path: string | undefined,
  { force, json, merge = false, roles, crtTtl }: ClientFileFlags,
  context: CommandContext,
): Promise<void> {
  if (path === undefined && (roles ?? crtTtl) !== undefined) {
    throw new TalosError("invalid-input", `${clientFilePaths(name)[file]} is for the administrator`, {
      hint: "Name another path for a talosconfig with limits, or - to print it.",
    });
  }
  const limits = given({ roles: knownRoles(roles), ttl: crtTtl === undefined ? undefined : parseLifetime(crtTtl) });
  const workspace = openWorkspace(name, context);
  const text = await contentOf(file, workspace, limits);
  if (merge) return mergeKubeconfig(text, path, json, context);
  if (path === "-") {
    context.stdout.write(text);
    return;
  }
  const target =
    path === undefined ? resolve(workspace.root, workspace.clientFiles.paths[file]) : resolve(context.cwd, path);
  try {
    await writeFileAtomically(target, text, { exclusive: !force });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new TalosError("already-exists", `${target} is there already`, {
      hint: "Add --force to replace it, or - to print the file instead.",
      cause: error,
    });
  }
  if (json) context.stdout.write(jsonLine({ v: 1, path: target }));
  else context.stderr.write(`${target} written.\n`);
}

async function mergeKubeconfig(
  text: string,
  path: string | undefined,
  json: boolean,
  context: CommandContext,
): Promise<void> {
  if (path === "-")
    throw new TalosError("invalid-input", "--merge and - exclude each other", {
      hint: "Leave - out, or name the file to merge into.",
    });
  const merged = await mergeIntoUserKubeconfig(text, { ...context, ...given({ path }) });
  if (json) context.stdout.write(jsonLine({ v: 1, ...merged }));
  else context.stderr.write(`Context ${merged.context} is in ${merged.path} and is the current one.\n`);
}

async function contentOf(file: ClientFile, workspace: Workspace, limits: TalosconfigLimits): Promise<string> {
  const { desired, secrets } = await workspace.deployed();
  if (file === "talosconfig") return talosconfigText(desired, secrets, workspace.context, limits);
  return fetchKubeconfig({ desired, secrets, signal: workspace.context.signal });
}
