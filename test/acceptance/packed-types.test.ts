// SPDX-License-Identifier: Apache-2.0
// The types of the packed package are enough to write an infrastructure of one's own: no sources, no types of Node.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { snippetOf } from "../pages/snippets.ts";
import { type Checkout, createCheckout } from "../support/checkout.ts";
import { everything } from "../support/everything.ts";
import { runCommand } from "../support/run-command.ts";
import { cleanEnvironment } from "../support/terraform.ts";

const env = cleanEnvironment();
const rack = `${snippetOf("docs/constructs.md", "ts", 1)}
cluster.addAddon({ name: "app", chart: "./charts/app" });
cluster.addBackup({ directory: "backups" });
// @ts-expect-error: what only talosmith itself needs is not declared
cluster.machineConfig;
// @ts-expect-error: a shelf is a number
new WorkerPool(cluster, "wrong", { count: 1, shelf: "top" });
`;

// A build and a pack: a minute.
describe.runIf(everything)("the packed types", () => {
  let checkout: Checkout;
  const folder = mkdtempSync(join(tmpdir(), "talosmith-types-"));

  beforeAll(async () => {
    checkout = createCheckout();
    const packed = await runCommand("npm", ["pack", "--pack-destination", folder], { cwd: checkout.root, env });
    expect(packed.code, packed.stderr.slice(-3000)).toBe(0);
    const modules = join(folder, "node_modules");
    mkdirSync(modules);
    const [tarball = ""] = readdirSync(folder).filter((each) => each.endsWith(".tgz"));
    execFileSync("tar", ["-xzf", join(folder, tarball), "-C", modules]);
    renameSync(join(modules, "package"), join(modules, "talosmith"));
    for (const name of ["cdktn", "constructs", "zod"]) symlinkSync(resolve("node_modules", name), join(modules, name));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  });

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    checkout?.remove();
  });

  test("compile the apps of docs/constructs.md, and refuse what is wrong or internal", async () => {
    const sources = { "rack.ts": rack, "one-machine.ts": snippetOf("docs/constructs.md", "ts") };
    for (const [name, text] of Object.entries(sources)) writeFileSync(join(folder, name), text);
    const settings = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--module", "nodenext", "--types", ""];
    const tsc = resolve("node_modules/typescript/bin/tsc");
    const { stdout } = await runCommand("node", [tsc, ...settings, "--target", "es2023", ...Object.keys(sources)], {
      cwd: folder,
      env,
    });
    expect(stdout).toBe("");
  });
});
