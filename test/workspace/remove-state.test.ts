// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeEmptyState } from "../../workspace/change.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { testContext } from "../support/command-context.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-remove-state-"));
  for (const folder of ["environments", "state/backups", "cdktf.out/stacks/lab"])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, "cdktf.json"), "{}");
  writeFileSync(
    join(root, "environments/lab.yaml"),
    "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: []\n",
  );
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const places = ["state/lab.tfstate", "state/backups/lab.4.tfstate", "cdktf.out/stacks/lab"];
function finish(resources: readonly object[]): Promise<void> {
  const text = JSON.stringify({ version: 4, serial: 5, resources });
  for (const file of places.slice(0, 2)) writeFileSync(join(root, file), text);
  return removeEmptyState(openWorkspace("lab", testContext({ cwd: root })));
}

test("after a destroy, a state without resources goes with its copies and its stack", async () => {
  await finish([]);
  expect(places.filter((place) => existsSync(join(root, place)))).toEqual([]);
});

test("a state that still has resources is kept with all copies, whatever the plan of the destroy has missed", async () => {
  await expect(finish([{}, {}])).rejects.toMatchObject({
    code: "failed-precondition",
    message: expect.stringMatching(/lab\.tfstate still has 2 resources$/),
    hint: expect.stringContaining("terraform state list"),
  });
  expect(places.filter((place) => existsSync(join(root, place)))).toEqual(places);
});

test("the stack stays where terraform keeps states of other workspaces in it", async () => {
  const blue = join(root, "cdktf.out/stacks/lab/terraform.tfstate.d/blue");
  mkdirSync(blue, { recursive: true });
  await finish([]);
  expect([existsSync(blue), existsSync(join(root, "state"))]).toEqual([true, false]);
});
