// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { armor, Encrypter, generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseEnvironment } from "../../model/index.ts";
import { readPatchFiles } from "../../workspace/patch-files.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-patch-files-"));
const secret = "correct-horse-battery";
let identity = "";

beforeAll(async () => {
  mkdirSync(join(root, "secrets"));
  const write = (name: string, text: string) => writeFileSync(join(root, "secrets", name), text, { mode: 0o600 });
  identity = await generateIdentity();
  const encrypter = new Encrypter();
  encrypter.addRecipient(await identityToRecipient(identity));
  write("disk.key", `${secret}\n`);
  write("disk.key.age", armor.encode(await encrypter.encrypt(secret)));
  write("registry.yaml", `machine: { registries: { config: { r.example: { auth: { password: ${secret} } } } } }\n`);
  write("lines.key", `${secret}\n${secret}\n`);
  write("empty.key", "\n");
  write("broken.yaml", `machine: { env: [${secret}`);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function read(cluster: object, env: Record<string, string> = { SOPS_AGE_KEY: identity }) {
  const text = JSON.stringify({ cluster, infrastructure: { kind: "simulated" }, controlPlane: {} });
  const environment = parseEnvironment("tiny", (file) => (file === "environments/tiny.yaml" ? text : undefined));
  return readPatchFiles({ root, environment, context: { env } });
}
const state = (file: string) => ({ diskEncryption: { state: [{ static: { file: `secrets/${file}` } }] } });

test.each(["disk.key", "disk.key.age"])("the passphrase in %s becomes the key of a volume", async (file) => {
  const [patch = ""] = await read(state(file));
  expect(patch).toContain("kind: VolumeConfig\nname: STATE\n");
  expect(patch).toContain(`passphrase: ${secret}`);
});

test("further patch files come before the keys, as they are", async () => {
  const [registry = "", key = ""] = await read({ ...state("disk.key"), patchFiles: ["secrets/registry.yaml"] });
  expect(registry).toContain("r.example");
  expect(key).toContain("VolumeConfig");
});

test.each([
  ["is missing", state("nowhere.key"), /nowhere\.key/],
  ["has several lines", state("lines.key"), /lines\.key: found several lines/],
  ["is empty", state("empty.key"), /empty\.key: found nothing/],
  ["is no patch", { patchFiles: ["secrets/broken.yaml"] }, /broken\.yaml.*not a config patch/],
])("a file that %s is told by its name, never by what it holds", async (_, cluster, message) => {
  const error = await read(cluster).catch((reason: Error) => reason);
  expect(String(error)).toMatch(message);
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(secret);
});

test("without the age identity nothing is opened", async () => {
  await expect(read(state("disk.key.age"), {})).rejects.toThrow(/no age identity/);
});
