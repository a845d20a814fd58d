// SPDX-License-Identifier: Apache-2.0
// What a project's main.ts adds to a stack holds without Terraform, too: for the command line, the web console and the
// operator, which all open the workspace.
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadEnvironment } from "../../model/index.ts";
import { firstReads } from "../../workspace/environment-file.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { testContext } from "../support/command-context.ts";

const repository = new URL("../../", import.meta.url).pathname;
const root = mkdtempSync(join(tmpdir(), "talosmith-stack-spec-"));
const stackFile = join(root, "cdktf.out/stacks/lab/cdk.tf.json");
const file = `
cluster: { name: rack, patches: { all: [{ machine: { sysctls: { from: file } } }] } }
infrastructure:
  kind: metal
  trustOnFirstUse: true
  deletionProtection: true
  network: { cidr: 192.0.2.0/24, gateway: 192.0.2.254 }
  machines:
    cp-1: { address: 192.0.2.1, role: controlplane, link: eth0 }
    w-1: { address: 192.0.2.2, role: worker, link: eth0, patches: [{ machine: { sysctls: { own: w } } }] }
controlPlane: {}
`;
const main = (patch: string) => `
import { Aspects } from "${repository}node_modules/cdktn/lib/index.js";
import { Pool } from "${repository}constructs/index.ts";
import { synthesizeProject } from "${repository}workspace/synthesize/index.ts";
await synthesizeProject(import.meta.dirname, {
  extend: (stack) => Aspects.of(stack).add({
    visit: (part) => part instanceof Pool && part.role === "worker" && part.addPatch("machine: { sysctls: { from_app: ${patch} } }"),
  }),
});
`;

beforeAll(() => {
  mkdirSync(join(root, "environments"));
  mkdirSync(join(root, "cdktf.out"));
  writeFileSync(join(root, "environments/lab.yaml"), file);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function configs() {
  const workspace = openWorkspace("lab", testContext({ cwd: root, env: process.env }));
  await workspace.secrets.ensure();
  const { desired, spec } = await workspace.deployed();
  return { spec, texts: Object.fromEntries(desired.machines.map(({ name, config }) => [name, config.text])) };
}

describe("a project with an app of its own", { timeout: 120_000 }, () => {
  test("has the same configs as the file where the app adds nothing, and the file's protection", async () => {
    writeFileSync(join(root, "cdktf.json"), "{}");
    const plain = await configs();
    writeFileSync(
      join(root, "cdktf.json"),
      JSON.stringify({ app: `node ${repository}scripts/from-source.js main.ts` }),
    );
    writeFileSync(join(root, "main.ts"), main("1").replace(/ {2}extend: [\s\S]*?\n {2}\}\),\n/, ""));
    const byApp = await configs();
    expect(byApp.texts).toEqual(plain.texts);
    expect(byApp.spec.deletionProtection).toBe(true);
  });

  test("wants of its machines what an Aspect in main.ts adds", async () => {
    writeFileSync(join(root, "main.ts"), main("one"));
    const { texts } = await configs();
    expect(texts["w-1"]).toMatch(/from_app: one/);
    expect(texts["w-1"]).toMatch(/own: w/);
    expect(texts["cp-1"]).not.toContain("from_app");
  });

  test("runs the app again only after something of the project has changed", async () => {
    const written = statSync(stackFile).mtimeMs;
    await configs();
    expect(statSync(stackFile).mtimeMs).toBe(written);
    writeFileSync(join(root, "main.ts"), main("two"));
    const later = new Date(Date.now() + 1000);
    utimesSync(join(root, "main.ts"), later, later);
    expect((await configs()).texts["w-1"]).toMatch(/from_app: two/);
  });

  test("refuses what only Terraform can evaluate, where it would be missing in a config", async () => {
    writeFileSync(
      join(root, "main.ts"),
      main("${Token.asString(ref('terraform.workspace'))}")
        .replace("{ Aspects }", "{ Aspects, ref, Token }")
        .replaceAll(/"(machine: [^\n]*)"\)/g, "`$1`)"),
    );
    const later = new Date(Date.now() + 3000);
    utimesSync(join(root, "main.ts"), later, later);
    await expect(configs()).rejects.toThrow(
      "cluster rack of the stack lab, machines, w-1, patches, 2: found an expression that only Terraform can evaluate",
    );
  });

  test("takes an edit that is not saved from the app as well, and leaves the project's files and stack alone", async () => {
    writeFileSync(join(root, "main.ts"), main("two"));
    const later = new Date(Date.now() + 4000);
    utimesSync(join(root, "main.ts"), later, later);
    await configs();
    const stack = readFileSync(stackFile, "utf8");
    const texts = new Map([["environments/lab.yaml", file.replace("{ from: file }", "{ from: edit }")]]);
    const workspace = openWorkspace("lab", testContext({ cwd: root, env: process.env }));
    const edited = workspace.edited({
      environment: loadEnvironment(root, "lab", texts),
      texts,
      before: firstReads(root),
    });
    const { machines } = await edited.desired(await edited.secrets.ensure(), await edited.machines.find());
    const config = machines.find(({ name }) => name === "w-1")?.config.text;
    expect(config).toMatch(/from_app: two/);
    expect(config).toMatch(/from: edit/);
    expect(readFileSync(join(root, "environments/lab.yaml"), "utf8")).toBe(file);
    expect(readFileSync(stackFile, "utf8")).toBe(stack);
    expect(readdirSync(join(root, "cdktf.out")).filter((name) => name.startsWith(".unsaved-"))).toEqual([]);
  });

  test("says what a broken app says, but lets a cluster go by its file alone", async () => {
    appendFileSync(join(root, "main.ts"), 'throw new Error("a fault in main.ts");\n');
    const later = new Date(Date.now() + 5000);
    utimesSync(join(root, "main.ts"), later, later);
    await expect(configs()).rejects.toThrow("a fault in main.ts");
    const workspace = openWorkspace("lab", testContext({ cwd: root, env: process.env }));
    const addresses = await workspace.machines.find();
    const desired = await workspace.desired(await workspace.secrets.ensure(), addresses, { goes: true });
    expect(desired.machines.map(({ name }) => name)).toEqual(["cp-1", "w-1"]);
  });
});
