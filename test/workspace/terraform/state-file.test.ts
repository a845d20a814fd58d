// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Environment } from "../../../model/index.ts";
import {
  backUpState,
  ownedByTerraform,
  readState,
  removeState,
  removeUnwritten,
  requireRoom,
} from "../../../workspace/terraform/state-file.ts";

const folder = mkdtempSync(join(tmpdir(), "talosmith-state-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let projects = 0;
function stateWith(text: string): string {
  projects += 1;
  const path = join(folder, String(projects), "state", "local.tfstate");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

test("a state that is not there is not a fault", async () => {
  expect(await readState("/nowhere/local.tfstate")).toBeUndefined();
});

test.each([
  ['{"version":4,"serial":7,"resources":[]}', { serial: 7, resources: 0 }],
  ['{"version":4,"resources":[{},{}]}', { serial: 0, resources: 2 }],
  ['{"version":4}', { serial: 0, resources: 0 }],
  ['{"serial":3,"lineage":"x","meta":{},"encrypted_data":"AAAA"}', { serial: 3, resources: "encrypted" }],
])("the state %s is read", async (text, expected) => {
  expect(await readState(stateWith(text))).toEqual({ text, ...expected });
});

const broken = [
  ["", "is empty"],
  ['{"version":4,"resour', "is not a whole Terraform state"],
  ['{"serial":3,"encrypted_data":""}', "is not a whole Terraform state"],
  ["[]", "is not a whole Terraform state"],
] as const;

test.each(broken)("the state %j is refused before terraform could take it for a new one", async (text, message) => {
  const path = stateWith(text);
  await expect(readState(path)).rejects.toMatchObject({
    code: "failed-precondition",
    message: `${path} ${message}`,
    hint: expect.stringContaining("There is no good copy"),
  });
});

const lock = (operation: string) =>
  `{"ID":"f404c228","Operation":"${operation}","Info":"","Who":"ann@laptop","Version":"1.11.4","Created":"2026-11-17T04:00:06.711Z","Path":"x"}`;
const lockBeside = (path: string) => join(dirname(path), ".local.tfstate.lock.info");

test("an empty state that a plan has locked was never written: a killed one leaves no trouble", async () => {
  const path = stateWith("");
  writeFileSync(lockBeside(path), lock("OperationTypePlan"));
  expect(await readState(path)).toBeUndefined();
  await removeUnwritten(path);
  expect(existsSync(path)).toBe(false);
});

test("an empty state that somebody applies to is told with who it is, and stays", async () => {
  const path = stateWith("");
  writeFileSync(lockBeside(path), lock("OperationTypeApply"));
  await removeUnwritten(path);
  await expect(readState(path)).rejects.toMatchObject({
    message: `${path} is empty: ann@laptop is applying since 2026-11-17 04:00:06 UTC`,
    hint: expect.stringMatching(/^Wait until that has ended and try again\. If it was killed: There is no good copy/),
  });
});

test("a whole state is not taken away, whoever has locked it", async () => {
  const path = stateWith('{"version":4}');
  writeFileSync(lockBeside(path), lock("OperationTypePlan"));
  await removeUnwritten(path);
  expect(existsSync(path)).toBe(true);
});

test("a broken state is refused with the newest copy that is whole, and the command that puts it back", async () => {
  const path = stateWith("");
  writeFileSync(`${path}.backup`, '{"version":4}');
  await expect(readState(path)).rejects.toMatchObject({
    hint: expect.stringContaining("cp state/local.tfstate.backup state/local.tfstate"),
  });
  await backUpState(path, { text: '{"version":4,"serial":9}', serial: 9 });
  await backUpState(path, { text: '{"version":4,"serial":10}', serial: 10 });
  await backUpState(path, { text: '{"vers', serial: 11 });
  await expect(readState(path)).rejects.toMatchObject({
    hint: expect.stringContaining("cp state/backups/local.10.tfstate state/local.tfstate"),
  });
});

test("ten copies are kept, for the owner alone, and none of another environment is touched", async () => {
  const path = stateWith("{}");
  await backUpState(join(dirname(path), "local-2.tfstate"), { text: "{}", serial: 0 });
  for (let serial = 0; serial < 12; serial++) await backUpState(path, { text: "{}", serial });
  const copies = readdirSync(join(dirname(path), "backups"));
  const kept = Array.from({ length: 10 }, (_, index) => `local.${index + 2}.tfstate`);
  expect(copies.sort()).toEqual(["local-2.0.tfstate", ...kept].sort());
  expect(statSync(join(dirname(path), "backups", "local.5.tfstate")).mode & 0o777).toBe(0o600);
  await removeState(path);
  expect(readdirSync(join(dirname(path), "backups"))).toEqual(["local-2.0.tfstate"]);
});

test("a disk with room is no fault", async () => {
  await expect(requireRoom(stateWith("{}"), undefined)).resolves.toBeUndefined();
});

test("a state for which there is no room is refused before anything is changed", async () => {
  const enormous = { serial: 1, text: { length: Number.MAX_SAFE_INTEGER } as unknown as string };
  await expect(requireRoom(stateWith("{}"), enormous)).rejects.toMatchObject({ code: "failed-precondition" });
});

test("a state with resources manages its environment", async () => {
  const root = mkdtempSync(join(folder, "owner-"));
  const environment = { name: "local", kind: "simulated", backend: { kind: "local" } } as unknown as Environment;
  expect(await ownedByTerraform({ root, environment })).toBe(false);
  mkdirSync(join(root, "state"));
  writeFileSync(join(root, "state/local.tfstate"), '{"version":4,"resources":[{}]}');
  expect(await ownedByTerraform({ root, environment })).toBe(true);
});
