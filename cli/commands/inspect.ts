// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "../context.ts";
import { addWithoutKubernetes, environmentCommand, runs } from "./flags.ts";

export function registerStatus(program: Command, context: CommandContext): void {
  addWithoutKubernetes(environmentCommand(program, "status"))
    .description("show what each machine of an environment is and does right now")
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await import("../actions/status.ts")).status));
}

export function registerHealth(program: Command, context: CommandContext): void {
  addWithoutKubernetes(environmentCommand(program, "health"))
    .description("make the checks of `talosctl health` and wait until all are met; exit code 1 when one is not")
    .addOption(
      new Option("--wait-timeout <duration>", "how long to wait, such as 30s or 20m; 0 looks once")
        .argParser(duration)
        .default(20 * 60_000, "20m"),
    )
    .option("--json", "report each change of a condition as NDJSON", false)
    .action(runs(context, async () => (await import("../actions/health.ts")).health));
}

export function registerDashboard(program: Command, context: CommandContext): void {
  environmentCommand(program, "dashboard")
    .description("show a cluster live in the terminal: machines, conditions, etcd; without a terminal, print it once")
    .addOption(
      new Option("--interval <duration>", "how often to look, such as 5s").argParser(duration).default(3000, "3s"),
    )
    .action(runs(context, async () => (await import("../actions/dashboard.ts")).dashboard));
}

export function registerTopology(program: Command, context: CommandContext): void {
  environmentCommand(program, "topology")
    .description("draw an environment: endpoint, zones or hosts, control planes, workers")
    .addOption(
      new Option("--format <format>", "form of the picture").choices(["svg", "mermaid", "json"]).default("svg"),
    )
    .option("--json", "the same as --format json", false)
    .option("--live", "ask the machines and show their state; without it the file alone is drawn", false)
    .action(runs(context, async () => (await import("../actions/topology.ts")).topology));
}

export function registerDoctor(program: Command, context: CommandContext): void {
  program
    .command("doctor")
    .description("check what a deploy needs: programs, environment files, states, secrets; changes nothing")
    .argument("[environment]", "name of a file in environments/, without .yaml; all of them when left out")
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await import("../actions/doctor.ts")).doctor));
}

export function registerSupport(program: Command, context: CommandContext): void {
  environmentCommand(program, "support")
    .description("gather versions, checks, states, configs and logs into one archive, every secret replaced")
    .option("-O, --output <file>", "where to write it (default: support-<environment>.zip)")
    .option("-f, --force", "replace a file that is there", false)
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await import("../actions/support.ts")).support));
}

export function registerReview(program: Command, context: CommandContext): void {
  program
    .command("review")
    .description(
      "turn a plan, or the first apply of an environment, into markdown for a pull request: danger first, then the steps of each cluster",
    )
    .argument(
      "<plan>",
      "what `terraform show -json <plan>` printed (a file, or - for standard input), or an environment: what its first apply makes",
    )
    .addOption(new Option("--fail-on <level>", "exit with code 2 at this or worse").choices(["caution", "danger"]))
    .option("--json", "print JSON", false)
    .action(runs(context, async () => (await import("../actions/review.ts")).review));
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A duration as Go's tools take it (`90s`, `1h30m`, `0`), in milliseconds. */
function duration(text: string): number {
  if (text === "0") return 0;
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) {
    throw new InvalidArgumentError("expected a duration such as 30s, 15m or 1h30m");
  }
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ""] ?? 0), 0);
}
