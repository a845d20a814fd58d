// SPDX-License-Identifier: Apache-2.0
import { Command, CommanderError, Help, type Option } from "commander";
import { packageVersion } from "../talos/own-files.ts";
import { takeGoSwitches } from "./commands/flags.ts";
import type { CommandContext } from "./context.ts";
import { correctedLine } from "./corrected-line.ts";
import { addHelpExamples } from "./help-examples.ts";
import { reportError } from "./output/report-error.ts";
import { asTyped } from "./typed-name.ts";

/** One command or group of commands: adds itself to the program. */
export type Registration = (program: Command, context: CommandContext) => void;

/** Builds the whole command line; nothing runs and nothing heavy is loaded before a command is chosen. */
export function createProgram(context: CommandContext, registrations: readonly Registration[]): Command {
  const program = new Command("talosmith")
    .description("A production Kubernetes cluster on Talos Linux from one short, typed file per environment")
    .version(packageVersion(), "-V, --version", "print the version of talosmith")
    .helpCommand("help [command]", "show help for a command")
    .showHelpAfterError("Try --help.")
    // `suggest` names the whole line that was meant, with the environment.
    .showSuggestionAfterError(false)
    .configureOutput({
      // Help is for people, though it goes where data goes.
      writeOut: (text) => context.stdout.write(asTyped(text, context.name)),
      writeErr: (text) => context.stderr.write(text),
    })
    .configureHelp({ optionDescription: describeOption })
    // `gen config` has a --version of its own.
    .enablePositionalOptions()
    .exitOverride();
  for (const register of registrations) register(program, context);
  takeGoSwitches(program);
  addHelpExamples(program);
  return program;
}

/** A switch that is off and a list that is empty are no defaults worth a word. */
function describeOption(option: Option): string {
  const { defaultValue, description } = option;
  const silent = defaultValue === false || (Array.isArray(defaultValue) && defaultValue.length === 0);
  return silent ? description : new Help().optionDescription(option);
}

/** Runs one command line to its end and reports its outcome through the context. */
export async function runProgram(program: Command, args: readonly string[], context: CommandContext): Promise<void> {
  // Who types only our name asks what there is.
  if (args.length === 0) return program.outputHelp();
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error, context, args);
    await suggest(error, program, args, context);
    context.exit(error.exitCode === 0 ? 0 : 64);
  }
}

/** Whether the command that was typed is for machines by -n. */
function takesNodes(program: Command, [first, second]: readonly string[]): boolean {
  const child = program.commands.find((command) => command.name() === first || command.aliases().includes(first ?? ""));
  const command = child?.commands.find((inner) => inner.name() === second) ?? child;
  return command?.options.some(({ long }) => long === "--nodes") ?? false;
}

/**
 * What commander calls a typing error. A required option is missing where its name is mistyped; there is one argument too
 * many where the name of a command is, below one that takes arguments itself.
 */
const mistypedCodes = [
  "commander.unknownCommand",
  "commander.unknownOption",
  "commander.missingMandatoryOptionValue",
  "commander.excessArguments",
];

/** Names what was most likely meant: the environments there are, or the line without its typing errors. */
async function suggest(
  { code, message }: CommanderError,
  program: Command,
  args: readonly string[],
  context: CommandContext,
): Promise<void> {
  if (code === "commander.missingArgument" && message.includes("'environment'")) {
    const { tellEnvironments } = await import("./actions/tell-environments.ts");
    tellEnvironments(context);
  }
  if (code === "commander.excessArguments" && takesNodes(program, args)) {
    context.stderr.write("Machines are named with -n, such as -n cp-1.\n");
  }
  if (!mistypedCodes.includes(code)) return;
  const { environmentsHere } = await import("../workspace/project.ts");
  const line = correctedLine(program, args, environmentsHere(context));
  if (line !== undefined) context.stderr.write(`Did you mean: ${line}\n`);
}
