// SPDX-License-Identifier: Apache-2.0
import { type Command, Option } from "commander";
import type { Level } from "../../review/index.ts";
import type { CommandContext } from "../context.ts";

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
    .action(async (plan: string, options: { failOn?: Level; json: boolean }) => {
      const { review } = await import("../actions/review.ts");
      await review(plan, options, context);
    });
}
