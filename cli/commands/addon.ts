// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError } from "commander";
import type { CommandContext } from "../context.ts";

const environment = ["<environment>", "name of a file in environments/, without .yaml"] as const;

/** Helm releases of an environment. */
export function registerAddon(program: Command, context: CommandContext): void {
  const addon = program
    .command("addon")
    .description("list, apply and roll back the add-ons of an environment, by helm");
  const actions = () => import("../actions/addon.ts");
  addon
    .command("list")
    .description("show each add-on: what the file asks for and what the cluster has")
    .argument(...environment)
    .option("--json", "print JSON", false)
    .action(async (name: string, options: { json: boolean }) => (await actions()).list(name, options, context));
  addon
    .command("apply")
    .description("install and upgrade the add-ons in their order, each ready before the next")
    .argument(...environment)
    .argument("[addon]", "one add-on instead of all")
    .action(async (name: string, which: string | undefined) => (await actions()).apply(name, which, context));
  addon
    .command("rollback")
    .description("go back to an earlier revision of an add-on")
    .argument(...environment)
    .argument("<addon>", "its name")
    .argument("[revision]", "as in helm history; without it the one before", revision)
    .action(async (name: string, which: string, to: number | undefined) =>
      (await actions()).rollback(name, which, to, context),
    );
}

function revision(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected the number of a revision");
}
