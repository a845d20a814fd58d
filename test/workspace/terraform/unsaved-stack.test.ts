// SPDX-License-Identifier: Apache-2.0
// A change is planned with texts that are not approved yet: in a stack that no other command reads, with the providers,
// the backend and the states of the environment's own stack.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadEnvironment } from "../../../model/index.ts";
import { processFolder } from "../../../talos/process-folder.ts";
import { removeUnsavedStacks, stackDirectory, withStack } from "../../../workspace/terraform/prepare-stack.ts";
import { testContext } from "../../support/command-context.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-unsaved-"));
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  writeFileSync(join(root, "environments/lab.yaml"), text(1));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const text = (workers: number) =>
  `infrastructure: { kind: simulated }\ncontrolPlane: {}\nworkers: [{ count: ${workers} }]\n`;

function place(workers: number, env: Readonly<Record<string, string>> = {}) {
  const unsaved = new Map([["environments/lab.yaml", text(workers)]]);
  return {
    root,
    environment: loadEnvironment(root, "lab", unsaved),
    context: testContext({ cwd: root, env }),
    unsaved,
  };
}

function mkdirIn(folder: string): string {
  mkdirSync(join(root, folder), { recursive: true });
  return join(root, folder);
}

const machinesIn = (directory: string): readonly string[] =>
  readFileSync(join(directory, "cdk.tf.json"), "utf8").match(/"w-\d+"/g) ?? [];

describe("the stack of edits that are not saved", () => {
  test("has them, is as deep in the project as the own one, and is gone afterwards", async () => {
    const own = stackDirectory(root, "lab");
    const place2 = place(2);
    await withStack({ ...place2, environment: loadEnvironment(root, "lab"), unsaved: new Map() }, async () => {});
    const before = readFileSync(join(own, "cdk.tf.json"), "utf8");
    const directory = await withStack(place2, async ({ directory }) => {
      expect(new Set(machinesIn(directory))).toEqual(new Set(['"w-1"', '"w-2"']));
      expect(resolve(directory, "../../..")).toBe(resolve(own, "../../.."));
      expect(existsSync(join(directory, "terraform.d/plugins"))).toBe(true);
      return directory;
    });
    expect(existsSync(directory)).toBe(false);
    expect(readFileSync(join(own, "cdk.tf.json"), "utf8")).toBe(before);
    expect(readdirSync(join(root, "cdktf.out")).filter((name) => name.startsWith("."))).toEqual([]);
    expect(readFileSync(join(root, "environments/lab.yaml"), "utf8")).toBe(text(1));
  });

  test("is refused where an app of another kind reads the files that are there", async () => {
    writeFileSync(
      join(root, "cdktf.json"),
      JSON.stringify({ app: "mkdir -p $CDKTF_OUTDIR/stacks/lab && echo '{}' > $CDKTF_OUTDIR/stacks/lab/cdk.tf.json" }),
    );
    const context = testContext({ cwd: root, env: process.env });
    await withStack({ root, environment: loadEnvironment(root, "lab"), context }, async () => {});
    await expect(withStack({ ...place(2), context }, async () => {})).rejects.toMatchObject({
      message: expect.stringContaining("of cdktf.json reads the environment files by itself"),
      hint: expect.stringContaining("--write-only"),
    });
  });

  test("of a killed run is removed with its plan, and no other environment's", () => {
    const folders = ["lab", "lab-two"].map((name) => {
      const folder = processFolder(mkdirIn("cdktf.out"), `.unsaved-${name}.`);
      // No process has this number.
      const left = folder.replace(`-${process.pid}-`, "-4194399-");
      renameSync(folder, left);
      writeFileSync(join(left, "talosmith.4194399.0a1b2c3d.tfplan"), "");
      return left;
    });
    removeUnsavedStacks(root, "lab");
    expect(folders.map(existsSync)).toEqual([false, true]);
  });

  test("is gone as well when the work fails", async () => {
    const failing = withStack(place(2), async () => {
      throw new Error("no machine");
    });
    await expect(failing).rejects.toThrow("no machine");
    expect(readdirSync(join(root, "cdktf.out"))).toEqual([]);
  });

  test.each([
    ["where Terraform has some", {}, ".terraform", true],
    ["where a variable names another place", { TF_DATA_DIR: "data" }, "data", true],
    ["not before there are any", {}, ".terraform", false],
  ])("uses the own stack's providers and workspaces %s", async (_, env, data, exist) => {
    const own = stackDirectory(root, "lab");
    if (exist) {
      mkdirSync(join(own, data), { recursive: true });
      mkdirSync(join(own, "terraform.tfstate.d/blue"), { recursive: true });
    }
    await withStack(place(2, env), async (stack) => {
      expect(stack.env).toEqual(exist ? { TF_DATA_DIR: join(own, data) } : {});
      expect(existsSync(join(stack.directory, "terraform.tfstate.d/blue"))).toBe(exist);
    });
    expect(existsSync(join(own, "terraform.tfstate.d/blue"))).toBe(exist);
  });
});
