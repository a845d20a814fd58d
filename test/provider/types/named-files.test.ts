// SPDX-License-Identifier: Apache-2.0
// Files that a configuration only names: patches and values. They change, or go, without Terraform's knowing.
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { armor, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import {
  applyResourceChange,
  configureProvider,
  type ObjectValue,
  planResourceChange,
  readResource,
  Server,
  schemaOf,
  type Value,
} from "../../../provider/framework/index.ts";
import { talosmithProvider } from "../../../provider/types/index.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-files-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
copyFileSync(join(import.meta.dirname, "../../golden/secrets/secrets-v1.13.yaml"), join(root, "secrets.yaml"));

async function started(environment: NodeJS.ProcessEnv = {}): Promise<Server> {
  const options = { workingDirectory: root, environment: { TALOSMITH_ROOT: root, ...environment } };
  const server = new Server(talosmithProvider({ ...options, daemonCommand: ["node"] }), () => undefined) as Server;
  const none: Record<string, Value> = { secrets_encryption: null, age_recipients: null, secrets: null };
  expect(await configureProvider(server, { ...none, secrets_file: "secrets.yaml" })).toEqual([]);
  return server;
}

/** What a process of the provider does that was started for this alone. */
async function inOneProcess(typeName: string, wishes: Record<string, Value>, environment?: NodeJS.ProcessEnv) {
  const server = await started(environment);
  const { attributes } = schemaOf(server.resource(typeName));
  const config: ObjectValue = Object.fromEntries(Object.keys(attributes).map((name) => [name, wishes[name] ?? null]));
  return {
    plan: (prior: Value = null) => {
      const kept = Object.entries(config).map(([name, value]) => {
        const computed = attributes[name]?.mode !== "required" && attributes[name]?.mode !== "optional";
        return [name, computed && value === null ? ((prior as ObjectValue | null)?.[name] ?? null) : value];
      });
      return planResourceChange(server, { typeName, prior, proposed: Object.fromEntries(kept), config });
    },
    apply: (planned: Value, prior: Value = null) => applyResourceChange(server, { typeName, prior, planned, config }),
    read: (state: Value) => readResource(server, typeName, state),
  };
}

const seed = "talosmith_cloud_init";
const patch = (size: number) => `machine:\n  sysctls:\n    vm.nr_hugepages: "${size}"\n`;

function machineConfig(more: Record<string, Value>): ObjectValue {
  const server = new Server(
    talosmithProvider({ workingDirectory: root, environment: {}, daemonCommand: ["node"] }),
    () => undefined,
  );
  const names = Object.keys(server.resource(seed).attributes.machine_config?.nested?.attributes ?? {});
  const values: Record<string, Value> = {
    name: "demo",
    endpoint: "https://10.0.0.1:6443",
    talos_version: "v1.13.9",
    kubernetes_version: "1.36.3",
    role: "worker",
    ...more,
  };
  return Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
}

const seedOf = (...files: readonly string[]): Record<string, Value> => ({
  path: "seed.iso",
  meta_data: "instance-id: demo\n",
  network_config: "version: 2\nethernets: {}\n",
  machine_config: machineConfig({ patch_files: files }),
});

beforeEach(() => {
  writeFileSync(join(root, "patch.yaml"), patch(1));
  rmSync(join(root, "seed.iso"), { force: true });
});

async function made(): Promise<Value> {
  const { plan, apply } = await inOneProcess(seed, seedOf("patch.yaml"));
  const { state, diagnostics } = await apply((await plan()).planned);
  expect(diagnostics).toEqual([]);
  return state;
}

describe("a patch file of a seed", () => {
  test("that changes after the plan stops the apply before anything is written", async () => {
    const { planned } = await (await inOneProcess(seed, seedOf("patch.yaml"))).plan();
    writeFileSync(join(root, "patch.yaml"), patch(2));
    const { diagnostics } = await (await inOneProcess(seed, seedOf("patch.yaml"))).apply(planned);
    expect(diagnostics).toMatchObject([{ severity: "error", summary: "Not what was planned" }]);
    expect(existsSync(join(root, "seed.iso"))).toBe(false);
  });

  test("that is gone does not keep anybody from a plan without a change, or from a destroy", async () => {
    const state = await made();
    rmSync(join(root, "patch.yaml"));
    rmSync(join(root, "seed.iso"));
    const { read, plan } = await inOneProcess(seed, seedOf("patch.yaml"));
    const refreshed = await read(state);
    expect(refreshed.diagnostics).toMatchObject([
      { severity: "warning", detail: expect.stringContaining("patch.yaml") },
    ]);
    expect(refreshed.state).toEqual(state);
    const again = await plan(state);
    expect(again.diagnostics).toMatchObject([{ severity: "warning", detail: expect.stringContaining("patch.yaml") }]);
    expect(again.planned).toEqual(state);
  });

  test("that is gone keeps a change from being planned", async () => {
    const state = await made();
    rmSync(join(root, "patch.yaml"));
    const changed = { ...seedOf("patch.yaml"), meta_data: "instance-id: other\n" };
    const { diagnostics } = await (await inOneProcess(seed, changed)).plan(state);
    expect(diagnostics).toMatchObject([{ severity: "error", summary: "A patch file is missing" }]);
  });

  test.each([
    ["patch.yaml", "machine: { env: [correct-horse", "Not a config patch"],
    ["patch.yaml#STATE/0", "correct-horse\ncorrect-horse\n", "Not a passphrase"],
  ])("%s that cannot be used is reported at its place, without what it holds", async (name, text, summary) => {
    writeFileSync(join(root, "patch.yaml"), text);
    const { diagnostics } = await (await inOneProcess(seed, seedOf(name))).plan();
    expect(diagnostics).toMatchObject([{ severity: "error", summary, detail: expect.stringContaining("patch.yaml") }]);
    expect(String(diagnostics[0]?.path)).toContain("patch_files");
    expect(JSON.stringify(diagnostics)).not.toContain("correct-horse");
  });

  test("may be encrypted whatever it is called, as for the command", async () => {
    const identity = await generateX25519Identity();
    const encrypter = new Encrypter();
    encrypter.addRecipient(await identityToRecipient(identity));
    writeFileSync(join(root, "registry.yaml"), armor.encode(await encrypter.encrypt(patch(3))));
    const open = await (await inOneProcess(seed, seedOf("registry.yaml"), { SOPS_AGE_KEY: identity })).plan();
    expect(open.diagnostics).toEqual([]);
    const closed = await (await inOneProcess(seed, seedOf("registry.yaml"))).plan();
    expect(closed.diagnostics).toMatchObject([{ detail: expect.stringContaining("no age identity") }]);
  });
});

describe("a values file of an add-on", () => {
  const addon = "talosmith_addon";
  const wishes = {
    name: "web",
    namespace: "web",
    endpoints: ["127.0.0.1:1"],
    chart: "oci://registry.example/web",
    values_files: ["values.yaml"],
  };

  test("that changes after the plan stops the apply before helm is asked", async () => {
    writeFileSync(join(root, "values.yaml"), "replicas: 1\n");
    const environment = { TALOSMITH_HELM: process.execPath };
    const { planned, diagnostics } = await (await inOneProcess(addon, wishes, environment)).plan();
    expect(diagnostics).toEqual([]);
    writeFileSync(join(root, "values.yaml"), "replicas: 2\n");
    const { diagnostics: told } = await (await inOneProcess(addon, wishes, environment)).apply(planned);
    expect(told).toMatchObject([{ severity: "error", summary: "Not what was planned" }]);
  });

  test("that is gone does not keep anybody from a plan without a change, or from a destroy", async () => {
    writeFileSync(join(root, "values.yaml"), "replicas: 1\n");
    const environment = { TALOSMITH_HELM: process.execPath };
    const { planned } = await (await inOneProcess(addon, wishes, environment)).plan();
    const facts = { revision: 1, status: "deployed", chart_version: "web-1.0.0" };
    const state = { ...(planned as ObjectValue), ...facts };
    rmSync(join(root, "values.yaml"));
    const again = await (await inOneProcess(addon, wishes, environment)).plan(state);
    expect(again.diagnostics).toMatchObject([{ severity: "warning", detail: expect.stringContaining("values.yaml") }]);
    expect(again.planned).toEqual(state);
  });
});
