// SPDX-License-Identifier: Apache-2.0
import pc from "picocolors";
import type { Style } from "../../review/index.ts";
import type { CommandContext, Output } from "../context.ts";

export type Colors = ReturnType<typeof pc.createColors>;

/** Colors of a terminal that takes them. Files and pipes have none, on a build machine too; FORCE_COLOR asks for them. */
export function colorsOf({ isTerminal }: Output, { env }: Pick<CommandContext, "env">): Colors {
  return pc.createColors(isForced(env.FORCE_COLOR) || (isTerminal && !env.NO_COLOR && env.TERM !== "dumb"));
}

const isForced = (value: string | undefined) => value !== undefined && value !== "" && value !== "0";

/** How plans are marked on this output. */
export function styleOf(output: Output, context: Pick<CommandContext, "env">): Style {
  const { red, yellow, bold } = colorsOf(output, context);
  return { danger: red, caution: yellow, title: bold };
}
