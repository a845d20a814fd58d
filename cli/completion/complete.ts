// SPDX-License-Identifier: Apache-2.0
import { type Argument, type Command, Help, type Option } from "commander";

export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** What a shell offers next: words of ours, or files, which it knows itself. */
type Completion = { readonly kind: "words"; readonly words: readonly Candidate[] } | { readonly kind: "files" };

/** Things of the user's own project that a word may name. */
type Subject = "environment" | "machine" | "node" | "address" | "addon" | "context";

/** Names of such things; `given` are the arguments before, as an add-on belongs to an environment. */
export type Lookup = (subject: Subject, given: readonly string[]) => Promise<readonly Candidate[]>;

const argumentSubjects: Readonly<Record<string, Subject>> = {
  environment: "environment",
  machine: "machine",
  addon: "addon",
  context: "context",
};
const optionSubjects: Readonly<Record<string, Subject>> = {
  environment: "environment",
  nodes: "node",
  endpoints: "address",
  context: "context",
};

/** What may stand where the last word stands, from the command tree itself. */
export async function complete(program: Command, words: readonly string[], lookup: Lookup): Promise<Completion> {
  const current = words.at(-1) ?? "";
  const { command, given, option } = walk(program, words.slice(0, -1));
  // Bash gives "--format=svg" as three words.
  if (option !== undefined) return valuesOf(option, current === "=" ? "" : current, given, lookup);
  const [, name, begun] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? [];
  const assigned = command.options.find(({ long }) => long === name);
  if (name !== undefined && begun !== undefined && assigned !== undefined) {
    const found = await valuesOf(assigned, begun, given, lookup);
    if (found.kind === "files") return found;
    return { kind: "words", words: found.words.map((word) => ({ ...word, value: `${name}=${word.value}` })) };
  }
  if (current.startsWith("-")) return offer(optionsOf(command), current);
  const children = given.length === 0 ? childrenOf(command) : [];
  const argument = command.registeredArguments[given.length] ?? lastVariadic(command);
  if (argument === undefined) return offer(children, current);
  const values = await argumentValues(argument, current, given, lookup);
  if (children.length === 0 || values.kind === "files") return values;
  return offer([...children, ...values.words], current);
}

/** Where the words before lead: the command, the arguments it has, and an option that still wants its value. */
function walk(program: Command, words: readonly string[]) {
  let command = program;
  let option: Option | undefined;
  let onlyArguments = false;
  const given: string[] = [];
  for (const word of words) {
    if (option !== undefined) {
      if (word !== "=") option = undefined;
    } else if (!onlyArguments && word === "--") {
      onlyArguments = true;
    } else if (!onlyArguments && word.startsWith("-") && word !== "-") {
      const found = command.options.find(({ long, short }) => long === word || short === word);
      if (found?.required || found?.optional) option = found;
    } else {
      const child = given.length === 0 ? childNamed(command, word) : undefined;
      if (child === undefined) given.push(word);
      else command = child;
    }
  }
  return { command, given, option };
}

const childNamed = (command: Command, word: string) =>
  command.commands.find((child) => child.name() === word || child.aliases().includes(word));

const lastVariadic = ({ registeredArguments }: Command) =>
  registeredArguments.filter(({ variadic }) => variadic).at(-1);

const childrenOf = (command: Command): readonly Candidate[] =>
  new Help()
    .visibleCommands(command)
    .map((child) => ({ value: child.name(), description: child.summary() || child.description() }));

const optionsOf = (command: Command): readonly Candidate[] =>
  new Help()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ value: long ?? short ?? "", description }));

async function valuesOf(
  option: Option,
  current: string,
  given: readonly string[],
  lookup: Lookup,
): Promise<Completion> {
  if (option.argChoices !== undefined) return plainWords(option.argChoices, current);
  const subject = optionSubjects[option.attributeName()];
  if (subject === undefined)
    return /<(path|file|folder|directory)>/.test(option.flags) ? { kind: "files" } : offer([], "");
  // A list goes on after its last comma.
  const head = current.slice(0, current.lastIndexOf(",") + 1);
  const found = await lookup(subject, given);
  return offer(
    found.map((word) => ({ ...word, value: `${head}${word.value}` })),
    current,
  );
}

async function argumentValues(
  argument: Argument,
  current: string,
  given: readonly string[],
  lookup: Lookup,
): Promise<Completion> {
  if (argument.argChoices !== undefined) return plainWords(argument.argChoices, current);
  const subject = argumentSubjects[argument.name()];
  return subject === undefined ? { kind: "files" } : offer(await lookup(subject, given), current);
}

const plainWords = (values: readonly string[], current: string) =>
  offer(
    values.map((value) => ({ value })),
    current,
  );

function offer(candidates: readonly Candidate[], current: string): Completion {
  const words = candidates.filter(({ value }) => value.startsWith(current));
  return { kind: "words", words: [...new Map(words.map((word) => [word.value, word])).values()] };
}
