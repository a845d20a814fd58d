// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import type { Command } from "commander";
import { type Environment, listedMachinesOf, loadEnvironment } from "../../model/index.ts";
import { topologyOf } from "../../model/topology/index.ts";
import { findTalosconfig, readTalosconfig } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { isGiven } from "../../talos/given.ts";
import { clientFilePaths } from "../../workspace/client-files.ts";
import { environmentsHere, projectRoot } from "../../workspace/project.ts";
import { type Candidate, complete, type Lookup } from "../completion/complete.ts";
import type { CommandContext } from "../context.ts";

/** Prints what may come next, a line each. What cannot be looked up is not offered: a shell has no place for errors. */
export async function answerShell(program: Command, words: readonly string[], context: CommandContext): Promise<void> {
  const found = await complete(program, words, projectLookup(context));
  const lines = found.kind === "files" ? [":files"] : found.words.map(lineOf);
  context.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

const lineOf = ({ value, description }: Candidate) => (description ? `${value}\t${description}` : value);

/** The user's own names, from the files of the project and the talosconfig alone: nothing is asked over the network. */
function projectLookup(context: CommandContext): Lookup {
  const environments = async () => {
    const load = (name: string) => readable(() => loadEnvironment(projectRoot(context.cwd, context.env), name));
    return (await Promise.all(environmentsHere(context).map(load))).filter(isGiven);
  };
  const addresses = async () => [
    ...(await environments()).flatMap(fixedAddresses),
    ...(await deployedAddresses(context)),
  ];
  return async (subject, given) => {
    switch (subject) {
      case "environment":
        return environmentsHere(context).map((value) => ({ value }));
      case "machine":
        return (await environments()).filter(({ kind }) => kind === "simulated").flatMap(machineNames);
      case "node":
        return [...(await environments()).flatMap(machineNames), ...(await addresses())];
      case "address":
        return addresses();
      case "addon":
        return (await environments())
          .filter(({ name }) => name === given[0])
          .flatMap(({ addons }) => addons.map(({ name }) => ({ value: name })));
      case "context":
        return [...((await talosconfigAt(await findTalosconfig(context.env)))?.contexts.keys() ?? [])].map((value) => {
          return { value };
        });
    }
  };
}

const machineNames = (environment: Environment): readonly Candidate[] =>
  listedMachinesOf(environment).map(({ name }) => ({ value: name }));

/** Machines whose addresses the file says, with their names. */
function fixedAddresses(environment: Environment): readonly Candidate[] {
  return topologyOf(environment)
    .places.flatMap(({ machines }) => machines)
    .flatMap(({ name, address }) => (address === undefined ? [] : [{ value: address, description: name }]));
}

/** Machines of the talosconfig in use and of those that deploys have left in this project. */
async function deployedAddresses(context: CommandContext): Promise<readonly Candidate[]> {
  const { cwd, env } = context;
  const own = environmentsHere(context).map((name) => join(projectRoot(cwd, env), clientFilePaths(name).talosconfig));
  const configs = await Promise.all([await findTalosconfig(env), ...own].map(talosconfigAt));
  return configs.flatMap((config) =>
    [...(config?.contexts ?? [])].flatMap(([name, { endpoints, nodes }]) =>
      [...endpoints, ...(nodes ?? [])].map((value) => ({ value, description: name })),
    ),
  );
}

const talosconfigAt = (path: string) => readable(() => readTalosconfig(path));

/** Undefined for what has errors, or is not there. */
async function readable<T>(read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TalosError) return undefined;
    throw error;
  }
}
