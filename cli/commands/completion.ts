// SPDX-License-Identifier: Apache-2.0
import { Argument, type Command } from "commander";
import { completionScripts, type Shell, shells } from "../completion/scripts.ts";
import type { CommandContext } from "../context.ts";

export function registerCompletion(program: Command, context: CommandContext): void {
  program
    .command("completion")
    .description("print the completion script of a shell: commands, flags, names of environments and machines")
    .addArgument(new Argument("<shell>", "which shell").choices(shells))
    .action((shell: Shell) => context.stdout.write(completionScripts[shell]));
  program
    .command("__complete", { hidden: true })
    .description("what the completion scripts ask")
    .argument("[words...]", "the command line so far")
    .action(async (words: readonly string[]) => {
      const { answerShell } = await import("../actions/complete.ts");
      await answerShell(program, words, context);
    });
}
