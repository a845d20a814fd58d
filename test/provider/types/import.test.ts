// SPDX-License-Identifier: Apache-2.0
// What a user types to import something, when it is not what is expected: a fault of theirs, and never one of ours.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, describe, expect, test } from "vitest";
import {
  configureProvider,
  Diagnostics,
  importResourceState,
  type ObjectValue,
  Server,
  type Value,
} from "../../../provider/framework/index.ts";
import { talosmithProvider } from "../../../provider/types/index.ts";
import { removeOwn, sha256 } from "../../../provider/types/own-files.ts";
import { openSecrets, sealSecrets } from "../../../talos/secrets/index.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-import-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const golden = join(import.meta.dirname, "../../golden/secrets/secrets-v1.13.yaml");
copyFileSync(golden, join(root, "secrets.yaml"));
writeFileSync(join(root, "empty"), "");

async function importing(type: string, id: string, environment: NodeJS.ProcessEnv = {}) {
  const options = { workingDirectory: root, environment: { TALOSMITH_ROOT: root, ...environment } };
  const server = new Server(talosmithProvider({ ...options, daemonCommand: ["node"] }), () => undefined) as Server;
  const none: Record<string, Value> = { secrets_encryption: null, age_recipients: null, secrets: null };
  expect(await configureProvider(server, { ...none, secrets_file: "secrets.yaml" })).toEqual([]);
  return importResourceState(server, type, id);
}

describe("an import", () => {
  test.each([
    ["talosmith_client_files", "kubeconfig,talosconfig", "No such file: kubeconfig is not there"],
    ["talosmith_client_files", "kubeconfig", "Not two paths"],
    ["talosmith_client_files", "a,b,c", "Not two paths"],
    ["talosmith_client_files", "empty,secrets.yaml", "Invalid input: the kubeconfig has no server"],
    ["talosmith_cloud_init", "seed.iso", "No such file"],
    ["talosmith_cloud_init", "empty", "Invalid input"],
    ["talosmith_secrets", "nothing.yaml", "Not found: open "],
    ["talosmith_secrets", "empty", "Invalid input: empty"],
    ["talosmith_member", "demo,demo-w-1", "Not a membership"],
    ["talosmith_addon", "10.0.0.70", "Not the address of a release"],
  ])("of %s by %s says what is wrong", async (type, id, expected) => {
    const { state, diagnostics } = await importing(type, id);
    expect(state).toBeUndefined();
    expect(diagnostics.map(({ summary, detail }) => `${summary}: ${detail}`)).toEqual([
      expect.stringContaining(expected),
    ]);
    expect(diagnostics[0]?.detail).not.toContain("fault of the provider");
  });

  test("of secrets takes a file that is encrypted with age, and never repeats a key", async () => {
    const identity = await generateX25519Identity();
    const bundle = await openSecrets(golden, {});
    const recipients = [await identityToRecipient(identity)];
    writeFileSync(join(root, "secrets.yaml.age"), await sealSecrets(bundle, recipients));
    const { state } = await importing("talosmith_secrets", "secrets.yaml.age", { SOPS_AGE_KEY: identity });
    expect((state as ObjectValue).bundle).toBe(readFileSync(golden, "utf8"));

    const broken = identity.slice(0, -4);
    const { diagnostics } = await importing("talosmith_secrets", "secrets.yaml.age", { SOPS_AGE_KEY: broken });
    expect(diagnostics).toMatchObject([{ summary: "Invalid input" }]);
    expect(diagnostics[0]?.detail).toContain("age identity 1 cannot be read");
    expect(diagnostics[0]?.detail).not.toContain(broken);

    const missing = await importing("talosmith_secrets", "secrets.yaml.age", { SOPS_AGE_KEY_FILE: "/no/such/file" });
    expect(missing.diagnostics).toMatchObject([{ summary: "Not possible now" }]);
  });
});

describe("files that a resource has written", () => {
  test("are removed, unless somebody else has changed them since", async () => {
    const [own, changed] = [join(root, "own"), join(root, "changed")];
    writeFileSync(own, "ours");
    writeFileSync(changed, "theirs");
    const diagnostics = new Diagnostics();
    const files = [own, changed, join(root, "gone")].map((path) => ({ path, fingerprint: sha256("ours") }));
    await removeOwn(files, diagnostics);
    expect([existsSync(own), existsSync(changed)]).toEqual([false, true]);
    expect(diagnostics.list).toMatchObject([{ severity: "warning", detail: expect.stringContaining(changed) }]);
  });
});
