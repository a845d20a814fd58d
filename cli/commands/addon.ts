// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError } from "commander";
import type { CommandContext } from "../context.ts";
import { environmentCommand, runs } from "./flags.ts";

/** Helm releases of an environment. */
export function registerAddon(program: Command, context: CommandContext): void {
  const addon = program
    .command("addon")
    .description("list, apply and roll back the add-ons of an environment, by helm");
  const actions = () => import("../actions/addon.ts");
  environmentCommand(addon, "list")
    .description("show each add-on: what the file asks for and what the cluster has")
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await actions()).list));
  environmentCommand(addon, "apply")
    .description("install and upgrade the add-ons in their order, each ready before the next")
    .argument("[addon]", "one add-on instead of all")
    .option("--json", "print NDJSON, a line per add-on", false)
    .action(runs(context, async () => (await actions()).apply));
  environmentCommand(addon, "rollback")
    .description("go back to an earlier revision of an add-on")
    .argument("<addon>", "its name")
    .argument("[revision]", "as in helm history; without it the one before", revision)
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await actions()).rollback));
}

function revision(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected the number of a revision");
}
