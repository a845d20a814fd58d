// SPDX-License-Identifier: Apache-2.0
import { basename } from "node:path";
import { checkHealth, creationSteps } from "../../engine/index.ts";
import { endsSoon } from "../../talos/client-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { backupLine, backupStatus } from "../../workspace/backups.ts";
import { planWithoutTerraform } from "../../workspace/deploy.ts";
import { type PolicyFlags, windowNotice } from "../../workspace/rollout.ts";
import { clearAbandonedState } from "../../workspace/terraform/abandoned-state.ts";
import { findTerraform } from "../../workspace/terraform/find-terraform.ts";
import { ownedByTerraform, refuseOwnedByTerraform } from "../../workspace/terraform/state-file.ts";
import { openWorkspace, type Workspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { contractLine } from "../output/contract-line.ts";
import { planWithTerraform } from "./deploy-with-terraform.ts";
import { tellFirstContact } from "./synth.ts";

export async function plan(
  name: string,
  { kubernetes }: { kubernetes: boolean },
  context: CommandContext,
): Promise<void> {
  const workspace = openWorkspace(name, context, { warn: true });
  const { environment, clientFiles } = workspace;
  await clearAbandonedState(workspace);
  tellFirstContact(environment, context);
  context.stderr.write(`${contractLine(environment)}\n`);
  const backup = await backupStatus(workspace);
  if (backup !== undefined) context.stderr.write(`${backupLine(backup)}\n`);
  // Terraform's door knows no cluster without Kubernetes. What `up` has made, it goes on with.
  const terraform = kubernetes ? findTerraform(context.env, environment.backend) : undefined;
  const madeByUs = !(await ownedByTerraform(workspace)) && (await workspace.machines.has());
  const binary = madeByUs ? undefined : terraform;
  if (madeByUs && terraform !== undefined)
    context.stderr.write(
      `Made without ${basename(terraform)}, as \`up\` goes on with it; \`deploy\` would take it into a state of ${basename(terraform)}.\n`,
    );
  if (binary !== undefined) {
    const changes = await planWithTerraform({ workspace, binary, approval: { yes: false }, context });
    if (!changes && environment.joins === undefined) await showHealth(workspace, { kubernetes }, context);
    context.exit(changes ? 2 : 0);
    return;
  }
  await refuseOwnedByTerraform(workspace);
  const { missing, steps, unseen, notes } = await planWithoutTerraform(workspace, { kubernetes });
  const ending = (await clientFiles.certificates()).filter(({ expiresAt }) => endsSoon(expiresAt, context.clock.now()));
  const lines = [
    ...[...creationSteps(missing), ...steps].map(({ sentence }) => sentence),
    ...ending.map((file) => `renew ${clientFiles.paths[file.name]}, valid until ${file.expiresAt.toISOString()}`),
  ];
  for (const machine of unseen) context.stderr.write(`Could not be looked at: ${machine}\n`);
  const nothing = unseen.length === 0 ? "Nothing to change.\n" : "Nothing to change on the machines that answer.\n";
  if (lines.length === 0 && unseen.length === 0) await showHealth(workspace, { kubernetes }, context);
  context.stdout.write(lines.length === 0 ? nothing : lines.map((line) => `- ${line}\n`).join(""));
  for (const note of notes) context.stderr.write(`${note}\n`);
  const notice = windowNotice(environment, steps, context.clock.now());
  if (notice !== undefined) context.stderr.write(`${notice}\n`);
  context.exit(lines.length === 0 ? 0 : 2);
}

/** "No changes" is about what is declared: a cluster that has all of it may be down, and whoever reads that must see it. */
async function showHealth(workspace: Workspace, policy: Required<PolicyFlags>, context: CommandContext): Promise<void> {
  try {
    const { desired, secrets } = await workspace.deployed();
    const { checks } = await checkHealth({ desired, secrets, policy, signal: context.signal, wait: false });
    for (const { name: check, state, reason } of checks)
      if (state === "failed") context.stderr.write(`Not healthy: ${check}: ${reason}\n`);
  } catch (error) {
    if (context.signal.aborted) throw error;
    context.stderr.write(`The health of the cluster could not be checked: ${TalosError.from(error).message}\n`);
  }
}
