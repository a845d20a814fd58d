// SPDX-License-Identifier: Apache-2.0
// The package as it is published, under each Node that `TALOSMITH_TEST_NODES` names: paths with a colon between them.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../support/run-command.ts";
import { makeProject, removeProject } from "./project.ts";

const nodes = (process.env.TALOSMITH_TEST_NODES ?? "").split(delimiter).filter((path) => path !== "");

test.skipIf(nodes.length === 0)("TALOSMITH_TEST_NODES names further versions of Node", () =>
  expect(nodes.length).toBeGreaterThan(0),
);

describe.runIf(nodes.length > 0)("the package", { timeout: 600_000 }, () => {
  const root = makeProject();
  const command = join(root, "node_modules/talosmith/bin/talosmith.js");
  beforeAll(() => {
    execFileSync("npm", ["pack", "--silent", "--pack-destination", root], { stdio: "ignore" });
    const [archive = ""] = readdirSync(root).filter((name) => name.endsWith(".tgz"));
    mkdirSync(join(root, "node_modules/talosmith"), { recursive: true });
    execFileSync("tar", ["xzf", archive, "--strip-components=1", "-C", "node_modules/talosmith"], { cwd: root });
    for (const name of ["cdktn", "constructs", "zod"])
      symlinkSync(resolve("node_modules", name), join(root, "node_modules", name));
  }, 600_000);
  afterAll(() => removeProject(root));

  test.each(nodes)("under %s plans, brings up, looks at and destroys a cluster, without a warning", async (node) => {
    const lines: readonly [string, number][] = [
      ["synth local", 0],
      ["plan local", 2],
      ["up local", 0],
      ["health local", 0],
      ["destroy local --yes", 0],
    ];
    for (const [line, code] of lines) {
      const env = { PATH: "/usr/bin:/bin", HOME: root };
      const ended = await runCommand(node, [command, ...line.split(" ")], { cwd: root, env });
      expect(ended, line).toMatchObject({ code });
      expect(ended.stderr).not.toMatch(/warning|deprecat/i);
    }
  });
});
