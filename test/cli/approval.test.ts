// SPDX-License-Identifier: Apache-2.0
import { Command } from "commander";
import { expect, test } from "vitest";
import { registerBackup } from "../../cli/commands/backup.ts";
import { addApproval } from "../../cli/commands/flags.ts";
import {
  registerDeploy,
  registerDestroy,
  registerRestore,
  registerUnlock,
  registerUp,
  registerUpgrade,
} from "../../cli/commands/lifecycle.ts";
import { registerMachine } from "../../cli/commands/machine.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { testContext } from "../support/command-context.ts";

const registrations = [
  registerBackup,
  registerDeploy,
  registerDestroy,
  registerMachine,
  registerRestore,
  registerUnlock,
  registerUp,
  registerUpgrade,
];

test.each([
  [[], false],
  [["--yes"], true],
  [["--auto-approve"], true],
  [["--auto-approve", "--yes"], true],
])("%j says yes: %s", (args, yes) => {
  expect(addApproval(new Command()).parse(args, { from: "user" }).opts().yes).toBe(yes);
});

test.each([
  "deploy",
  "destroy",
  "up",
  "down",
  "restore",
  "unlock",
  "reset",
  "upgrade talos",
  "upgrade k8s",
  "upgrade-k8s",
  "backup prune",
])("%s takes --yes, and Terraform's word for it without showing two", async (words) => {
  const context = testContext({});
  await runProgram(createProgram(context, registrations), [...words.split(" "), "--help"], context);
  expect(context.written.stdout).toContain("--yes");
  expect(context.written.stdout).not.toContain("--auto-approve");
  const command = words
    .split(" ")
    .reduce<Command | undefined>(
      (parent, word) => parent?.commands.find((child) => child.name() === word),
      createProgram(context, registrations),
    );
  expect(command?.options.map(({ long }) => long)).toContain("--auto-approve");
});
