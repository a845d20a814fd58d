// SPDX-License-Identifier: Apache-2.0
import { libvirtHost } from "../libvirt-host.ts";
import { refuseMissingImages } from "../start-images.ts";
import type { Workspace } from "../workspace.ts";
import { readState, stateFile } from "./state-file.ts";

/**
 * Before terraform is started: what its apply could report for one machine after the other at best. Throws where nothing
 * can be deployed; returns warnings of what the host lacks for a first apply.
 */
export async function beforeApply(workspace: Workspace): Promise<readonly string[]> {
  await workspace.machines.refuseOtherKind();
  const { root, name, environment } = workspace;
  const isNew = environment.backend.kind === "local" && !(await readState(stateFile(root, name)))?.resources;
  if (isNew) refuseMissingImages(workspace);
  if (environment.kind === "simulated") {
    const { requireLoopback } = await import("../simulated-machines.ts");
    await requireLoopback(workspace);
  }
  const host = isNew ? await libvirtHost(workspace) : undefined;
  return host?.kind === "seen" ? host.missing : [];
}
