// SPDX-License-Identifier: Apache-2.0
import { systemTiming, waitUntil } from "../../engine/index.ts";
import { approved } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import type { ApplyFlags, RebootFlags, ReportedFlags, ResetFlags } from "../machine/target-flags.ts";
import { changeEachTarget, requireOneNode, type Target, targetNodes } from "../machine/targets.ts";
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

export async function reboot(flags: RebootFlags, context: CommandContext): Promise<void> {
  await changeEachTarget(flags, context, async (target) => {
    const { node, client, call } = target;
    const before = flags.wait ? await bootOf(target) : undefined;
    await client.reboot(call);
    if (!flags.json || before === undefined) report(context, flags, { node }, `${node}: reboots.`);
    if (before === undefined) return;
    await awaitBoot(target, before, context);
    report(context, flags, { node, stage: "running" }, `${node}: runs again.`);
  });
}

/** The kernel's id of this boot. In a container that is the host's; when the machine's own state began tells its boots apart too. */
async function bootOf({ client, call }: Target): Promise<{ readonly id: string; readonly stage: string }> {
  const [{ stage, bootMark }, id] = await Promise.all([
    client.machineStatus(call),
    client.read("/proc/sys/kernel/random/boot_id", call),
  ]);
  return { id: `${id.toString().trim()}/${bootMark}`, stage };
}

/** As long as talosctl waits for a cluster. */
const bootPatience = 30 * 60_000;

async function awaitBoot(target: Target, before: { readonly id: string }, context: CommandContext): Promise<void> {
  context.stderr.write(`${target.node}: waiting until it runs again\n`);
  await waitUntil(
    async () => {
      const { id, stage } = await bootOf(target);
      if (id === before.id) return "rebooting";
      return stage === "running" ? undefined : stage;
    },
    {
      timing: systemTiming,
      signal: context.signal,
      timeout: bootPatience,
      what: `reboot ${target.node}`,
      machine: target.node,
    },
  );
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
