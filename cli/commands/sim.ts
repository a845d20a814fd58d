// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { runs } from "./flags.ts";

export function registerSim(program: Command, context: CommandContext): void {
  const sim = program.command("sim").description("inspect simulated machines and inject faults");
  const actions = () => import("../actions/sim.ts");

  sim
    .command("list")
    .description("list the simulated machines of all environments")
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await actions()).list));
  sim
    .command("up")
    .description("start the simulator again where it was ended; its machines go on from disk")
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await actions()).up));
  sim
    .command("down")
    .description("end the simulator; its machines stay on disk, and the next command starts them again")
    .option("--all", "also remove every machine, whichever environment it belongs to", false)
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await actions()).down));
  sim
    .command("power")
    .description("cut or restore the power of a machine")
    .argument("<machine>", "name of the machine")
    .argument("<state>", "on or off")
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await actions()).power));
  sim
    .command("fault")
    .description("give a machine a fault, or clear its faults")
    .argument("<machine>", "name of the machine")
    .argument("[fault]", 'such as refuse, or as JSON: {"kind":"delay","milliseconds":500,"times":3}; none clears')
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await actions()).fault));
}
