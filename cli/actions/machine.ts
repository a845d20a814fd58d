// SPDX-License-Identifier: Apache-2.0
import { approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import type { ApplyFlags, ReportedFlags, ResetFlags } from "../machine/target-flags.ts";
import { changeEachTarget, requireOneNode, targetNodes } from "../machine/targets.ts";
import { report } from "../output/report.ts";
import { readText } from "./user-files.ts";

export async function apply(flags: ApplyFlags, context: CommandContext): Promise<void> {
  const config = await readText(flags.file, context.cwd);
  await changeEachTarget(flags, context, async ({ node, client, call }) => {
    const { mode, details, warnings } = await client.applyConfiguration(config, {
      ...call,
      mode: flags.mode,
      dryRun: flags.dryRun,
    });
    if (!flags.json) for (const warning of warnings) context.stderr.write(`${node}: warning: ${warning}\n`);
    const sentence = `${node}: ${details || "the config was accepted"}`;
    report(context, flags, { node, mode, details, warnings }, sentence);
  });
}

export async function bootstrap(flags: ReportedFlags, context: CommandContext): Promise<void> {
  // Two bootstraps make two clusters; the other control planes join by themselves.
  await requireOneNode("bootstrap", flags, context);
  await changeEachTarget(flags, context, async ({ node, client, call }) => {
    await client.bootstrap(call);
    report(context, flags, { node }, `${node}: etcd starts.`);
  });
}

export async function reboot(flags: ReportedFlags, context: CommandContext): Promise<void> {
  await changeEachTarget(flags, context, async ({ node, client, call }) => {
    await client.reboot(call);
    report(context, flags, { node }, `${node}: reboots.`);
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
    report(context, flags, { node }, `${node}: is being wiped.`);
  });
}
