// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countResources } from "../../../cli/terraform/state-file.ts";

function stateWith(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "talosmith-state-")), "local.tfstate");
  writeFileSync(path, text);
  return path;
}

test("a state that is not there is not a fault", async () => {
  expect(await countResources("/nowhere/local.tfstate")).toBeUndefined();
});

test.each([
  ['{"version":4,"resources":[]}', 0],
  ['{"version":4,"resources":[{},{}]}', 2],
  ['{"version":4}', 0],
])("the resources of %s are counted", async (text, count) => {
  expect(await countResources(stateWith(text))).toBe(count);
});

test.each([
  ["", "is empty"],
  ['{"version":4,"resour', "is not a whole Terraform state"],
  ["[]", "is not a whole Terraform state"],
])("the state %j is refused before terraform could take it for a new one", async (text, message) => {
  const path = stateWith(text);
  await expect(countResources(path)).rejects.toMatchObject({
    code: "failed-precondition",
    message: `${path} ${message}`,
    hint: expect.stringContaining(`${path}.backup`),
  });
});
