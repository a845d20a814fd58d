// SPDX-License-Identifier: Apache-2.0
import { linesOf } from "../../talos/api/index.ts";
import { oneLine } from "../../talos/plain-text.ts";
import type { CommandContext } from "../context.ts";
import type { LogFlags } from "../machine/target-flags.ts";
import { forAllTargets, type Target } from "../machine/targets.ts";
import { jsonLine } from "../output/table.ts";

/** The log of a service, or with `kubernetes` of a container, as `talosctl logs` prints it. */
export async function logs(
  service: string,
  flags: LogFlags & { readonly tail: number; readonly kubernetes: boolean },
  context: CommandContext,
): Promise<void> {
  const { follow, tail: tailLines, kubernetes } = flags;
  await printLines(flags, context, ({ client, call }) =>
    client.logs(service, { ...call, follow, tailLines, kubernetes }),
  );
}

/** The kernel's log, as `talosctl dmesg` prints it. */
export async function dmesg(flags: LogFlags & { readonly tail: boolean }, context: CommandContext): Promise<void> {
  const { follow, tail } = flags;
  await printLines(flags, context, ({ client, call }) => client.dmesg({ ...call, follow, tail }));
}

/** Every line with the machine that it is from, so that those of several may mix. */
async function printLines(
  flags: LogFlags,
  context: CommandContext,
  source: (target: Target) => AsyncIterable<Uint8Array>,
): Promise<void> {
  await forAllTargets(flags, context, async (target) => {
    const { node } = target;
    const print = (line: string) => (flags.json ? jsonLine({ v: 1, node, line }) : `${node}: ${line}\n`);
    try {
      for await (const lines of linesOf(source(target)))
        context.stdout.write(lines.map((line) => print(oneLine(line))).join(""));
    } catch (error) {
      // Ctrl-C is how a person ends what follows.
      if (!(flags.follow && context.signal.aborted)) throw error;
    }
  });
}
