// SPDX-License-Identifier: Apache-2.0
import pc from "picocolors";
import type { Style } from "../../review/index.ts";
import type { CommandContext, Output } from "../context.ts";

export type Colors = ReturnType<typeof pc.createColors>;

/** Whether what stands there can be drawn over. A terminal that can only append may still be asked. */
export function isRedrawable({ isTerminal }: Output, { env }: Pick<CommandContext, "env">): boolean {
  return isTerminal && env.TERM !== "dumb";
}

/** Colors of a terminal that takes them. Files and pipes have none, on a build machine too; FORCE_COLOR asks for them. */
export function colorsOf(output: Output, context: Pick<CommandContext, "env">): Colors {
  const { FORCE_COLOR, NO_COLOR } = context.env;
  return pc.createColors(isForced(FORCE_COLOR) || (!NO_COLOR && isRedrawable(output, context)));
}

const isForced = (value: string | undefined) => value !== undefined && value !== "" && value !== "0";

/** How plans are marked on this output. */
export function styleOf(output: Output, context: Pick<CommandContext, "env">): Style {
  const { red, yellow, bold } = colorsOf(output, context);
  return { danger: red, caution: yellow, title: bold };
}
