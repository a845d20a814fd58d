// SPDX-License-Identifier: Apache-2.0
// The CDK's own commands on our cdktf.json. They are no dependency: TALOSMITH_TEST_CDKTF and _CDKTN name them.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, createCheckout } from "../support/checkout.ts";
import { everything } from "../support/everything.ts";
import { findProgram } from "../support/programs.ts";
import { runCommand } from "../support/run-command.ts";
import { cleanEnvironment, findTools } from "../support/terraform.ts";

const tools = findTools();
const cases = ["cdktf", "cdktn"].flatMap((command) =>
  tools.map((tool) => ({ command, tool: tool.name, path: tool.path })),
);
// One of them always, the others with TALOSMITH_TEST_ALL: a CDK command takes seconds before it does anything.
const first = cases.find(({ command }) => findProgram(command) !== undefined) ?? cases[0];

describe.each(cases)("$command with $tool", ({ command, tool, path }) => {
  const program = findProgram(command);
  const skipped = program === undefined || !(everything || (first?.command === command && first.tool === tool));
  let checkout: Checkout;
  const run = (args: readonly string[]) => {
    // cdktn wants a newer Node than the tests run on: the one beside it, where there is one.
    const beside = join(dirname(program ?? ""), "node");
    const [node, ...script] = existsSync(beside) && command === "cdktn" ? [beside, program ?? ""] : [program ?? ""];
    return runCommand(node, [...script, ...args], {
      cwd: checkout.root,
      env: cleanEnvironment({
        HOME: join(checkout.root, "generated/home"),
        PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
        TERRAFORM_BINARY_NAME: path,
      }),
    });
  };
  const ours = (...args: string[]) =>
    runCommand("node", ["bin/talosmith.js", ...args], {
      cwd: checkout.root,
      env: cleanEnvironment({ TERRAFORM_BINARY_NAME: path }),
    });

  beforeAll(() => {
    if (skipped) return;
    checkout = createCheckout();
    mkdirSync(join(checkout.root, "generated/home"), { recursive: true });
    for (const other of ["production", "sandbox", "staging"]) rmSync(join(checkout.root, `environments/${other}.yaml`));
  });

  afterAll(async () => {
    if (skipped) return;
    if (existsSync(join(checkout.root, "generated/.simulator"))) await ours("destroy", "local");
    checkout.remove();
  });

  test.skipIf(skipped)(
    "`deploy` makes the cluster without network and settings, its state outside cdktf.out",
    async () => {
      const { code, stdout, stderr } = await run(["deploy", "local", "--auto-approve", "--outputs-file", "first.json"]);
      expect(`${stdout}${stderr}`.slice(-3000) + code).toMatch(/0$/);
      expect(existsSync(join(checkout.root, "state/local.tfstate"))).toBe(true);
      const { local } = JSON.parse(readFileSync(join(checkout.root, "first.json"), "utf8"));
      expect(local).toMatchObject({
        kubeconfig_path: "generated/local/kubeconfig",
        worker_ips: [expect.any(String), expect.any(String)],
      });
    },
  );

  test.skipIf(skipped)("`diff` and our own plan find nothing to change", async () => {
    const { code, stdout } = await run(["diff", "local"]);
    expect(stdout).toContain("No changes");
    expect(code).toBe(0);
    expect((await ours("plan", "local")).code).toBe(0);
  });

  test.skipIf(skipped)("`output --outputs-file` gives what `deploy` gave", async () => {
    expect((await run(["output", "local", "--outputs-file", "second.json"])).code).toBe(0);
    expect(readFileSync(join(checkout.root, "second.json"), "utf8")).toBe(
      readFileSync(join(checkout.root, "first.json"), "utf8"),
    );
  });

  test.skipIf(skipped)("`destroy` takes it down", async () => {
    expect((await run(["destroy", "local", "--auto-approve"])).code).toBe(0);
    expect(JSON.parse(readFileSync(join(checkout.root, "state/local.tfstate"), "utf8")).resources).toEqual([]);
    expect(existsSync(join(checkout.root, "generated/local/kubeconfig"))).toBe(false);
  });
});
