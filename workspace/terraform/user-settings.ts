// SPDX-License-Identifier: Apache-2.0
import { fileReader } from "../../model/index.ts";
import { selectedWorkspace } from "../../model/state-owner.ts";
import { TalosError } from "../../talos/errors.ts";
import type { EnvironmentOnDisk } from "../context.ts";

/**
 * Throws where the user's own settings of terraform would make it do something else: with another state than the one that
 * talosmith reads and backs up, or less or more than the command says.
 */
export function refuseOtherPlans(place: EnvironmentOnDisk): void {
  refuseWorkspace(place);
  const { environment, context } = place;
  for (const [command, names] of Object.entries(refused)) {
    const variable = command === "" ? "TF_CLI_ARGS" : `TF_CLI_ARGS_${command}`;
    const isLocal = environment.backend.kind === "local";
    const found = argumentsIn(context.env[variable]).find(({ name, isOff }) => {
      if (everywhere.includes(name)) return true;
      // talosmith itself reads a local state where the stack says that it is.
      if (name === "backend-config" && !isLocal) return false;
      return names.includes(isOff ? `no ${name}` : name);
    });
    if (found === undefined) continue;
    throw new TalosError(
      "failed-precondition",
      `${variable} has ${found.word}, so Terraform would do something else than the command says`,
      { hint: `Remove it from ${variable}. To use it, run ${byHand(place)}.` },
    );
  }
}

/** With these, nothing is planned or applied, and Terraform ends as if nothing were to change. */
const everywhere: readonly string[] = ["h", "help", "v", "version"];

const otherChanges = [
  ...["destroy", "refresh-only", "no refresh", "replace"],
  ...["target", "target-file", "exclude", "exclude-file"],
];
const otherStates = ["state", "state-out", "backup", "no lock"];
const otherBackends = ["no backend", "backend-config", "migrate-state", "force-copy", "from-module"];

/** The arguments that change what a command plans or applies, how talosmith reads it, or where the state goes. */
const refused: Readonly<Record<string, readonly string[]>> = {
  "": [...otherChanges, ...otherStates, ...otherBackends],
  init: [...otherBackends, "no lock"],
  plan: [...otherChanges, ...otherStates, "json"],
  apply: [...otherChanges, ...otherStates],
  show: [],
  output: ["state"],
  state_pull: [],
};

interface Argument {
  /** As it is typed, without its value. */
  readonly word: string;
  readonly name: string;
  /** Whether it is a switch that is turned off. */
  readonly isOff: boolean;
}

/** Terraform splits the variable as a shell does; a value that looks like an argument is taken for one. */
function argumentsIn(text = ""): readonly Argument[] {
  const words = text.replaceAll(/['"\\]/g, "").split(/\s+/);
  return words.flatMap((word) => {
    const [, typed, name = "", value = ""] = /^(--?([a-z-]+))(?:=(.*))?$/.exec(word) ?? [];
    if (typed === undefined) return [];
    const isOff = /^(?:0|f|false)$/i.test(value);
    return [{ word: isOff ? word : typed, name, isOff }];
  });
}

/** A remote backend has the states of all workspaces in one place. */
function refuseWorkspace(place: EnvironmentOnDisk): void {
  const { root, environment, context } = place;
  const workspace = selectedWorkspace(environment.name, fileReader(root), context.env);
  if (environment.backend.kind !== "local" || workspace === "default") return;
  const [by, change] = context.env.TF_WORKSPACE
    ? ["TF_WORKSPACE selects", "Unset TF_WORKSPACE"]
    : ["terraform has selected", "Run terraform workspace select default in the stack's folder"];
  throw new TalosError(
    "failed-precondition",
    `${by} the workspace ${workspace}, but with a local state talosmith uses the workspace default only`,
    { hint: `${change}. For another cluster, add an environment. For the workspace, run ${byHand(place)}.` },
  );
}

function byHand({ environment: { name } }: EnvironmentOnDisk): string {
  return `terraform or tofu in cdktf.out/stacks/${name}`;
}
