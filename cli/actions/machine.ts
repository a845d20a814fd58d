// SPDX-License-Identifier: Apache-2.0
import { approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import type { ApplyFlags, ResetFlags, TargetFlags } from "../machine/target-flags.ts";
import { changeEachTarget, requireOneNode, targetNodes } from "../machine/targets.ts";
import { readText } from "./user-files.ts";

export async function apply(flags: ApplyFlags, context: CommandContext): Promise<void> {
  const config = await readText(flags.file, context.cwd);
  await changeEachTarget(flags, context, async ({ node, client, call }) => {
    const { details, warnings } = await client.applyConfiguration(config, {
      ...call,
      mode: flags.mode,
      dryRun: flags.dryRun,
    });
    for (const warning of warnings) context.stderr.write(`${node}: warning: ${warning}\n`);
    context.stderr.write(`${node}: ${details || "the config was accepted"}\n`);
  });
}

export async function bootstrap(flags: TargetFlags, context: CommandContext): Promise<void> {
  // Two bootstraps make two clusters; the other control planes join by themselves.
  await requireOneNode("bootstrap", flags, context);
  await changeEachTarget(flags, context, async ({ node, client, call }) => {
    await client.bootstrap(call);
    context.stderr.write(`${node}: etcd starts.\n`);
  });
}

export async function reboot(flags: TargetFlags, context: CommandContext): Promise<void> {
  await changeEachTarget(flags, context, async ({ node, client, call }) => {
    await client.reboot(call);
    context.stderr.write(`${node}: reboots.\n`);
  });
}

export async function reset(flags: ResetFlags, context: CommandContext): Promise<void> {
  const { graceful, reboot: thenReboot, systemLabelsToWipe: partitions } = flags;
  const nodes = (await targetNodes(flags, context)).join(",");
  const what = partitions.length === 0 ? "everything" : partitions.join(", ");
  const question = `Wipe ${what} on ${nodes}? There is no way back.`;
  if (nodes !== "" && !(await approved(question, nodes, flags, context))) return;
  await changeEachTarget(flags, context, async ({ node, client, call }) => {
    await client.reset({ ...call, graceful, reboot: thenReboot, partitions });
    context.stderr.write(`${node}: is being wiped.\n`);
  });
}
