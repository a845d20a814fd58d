// SPDX-License-Identifier: Apache-2.0
import { resolve } from "node:path";
import type { Command } from "commander";
import type { CommandContext } from "../context.ts";

export function registerProvider(program: Command, context: CommandContext): void {
  program
    .command("provider")
    .description("the Terraform provider that comes with talosmith")
    .command("install")
    .description("put the provider where `terraform init` and `tofu init` find it from any directory")
    .option("--dir <directory>", "another plugin directory than ~/.terraform.d/plugins")
    .action(async ({ dir }: { dir?: string }) => {
      const { installProviderForUser } = await import("../../provider/package.ts");
      const target = dir === undefined ? undefined : resolve(context.cwd, dir);
      const { plugins, version, hash } = await installProviderForUser(target);
      context.stderr.write(`Provider ${version} is in ${plugins}.\n`);
      context.stdout.write(`${hash}\n`);
    });
}
