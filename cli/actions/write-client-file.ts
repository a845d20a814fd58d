// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import { fetchKubeconfig } from "../../engine/index.ts";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { type ClientFile, parseLifetime } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { clientFilePaths, type TalosconfigLimits, talosconfigText } from "../../workspace/client-files.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { knownRoles } from "./gen.ts";

export interface ClientFileFlags {
  readonly force: boolean;
  /** Of a talosconfig only. */
  readonly roles?: readonly string[];
  readonly crtTtl?: string;
}

export async function writeClientFile(
  file: ClientFile,
  name: string,
  path: string | undefined,
  { force, roles, crtTtl }: ClientFileFlags,
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
  context.stderr.write(`${target} written.\n`);
}

async function contentOf(file: ClientFile, workspace: Workspace, limits: TalosconfigLimits): Promise<string> {
  const { desired, secrets } = await workspace.deployed();
  if (file === "talosconfig") return talosconfigText(desired, secrets, workspace.context, limits);
  return fetchKubeconfig({ desired, secrets, signal: workspace.context.signal });
}
