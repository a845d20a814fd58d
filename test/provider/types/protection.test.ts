// SPDX-License-Identifier: Apache-2.0
// What on_destroy = "prevent" refuses while it is only planned, without a machine and without Terraform.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  applyResourceChange,
  configureProvider,
  type ObjectValue,
  planResourceChange,
  Server,
  schemaOf,
  unknown,
  type Value,
} from "../../../provider/framework/index.ts";
import { talosmithProvider } from "../../../provider/types/index.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-protection-"));
const environment = { TALOSMITH_ROOT: root };
const provider = talosmithProvider({ workingDirectory: root, environment, daemonCommand: ["node"] });
const server = new Server(provider, () => undefined) as Server;

beforeAll(async () => {
  const golden = join(import.meta.dirname, "../../golden/secrets/secrets-v1.13.yaml");
  writeFileSync(join(root, "secrets.yaml"), readFileSync(golden));
  const source = { secrets_file: "secrets.yaml", secrets_encryption: null, age_recipients: null, secrets: null };
  expect(await configureProvider(server, source)).toEqual([]);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function whole(typeName: string, values: Record<string, Value>): ObjectValue {
  const names = Object.keys(schemaOf(server.resource(typeName)).attributes);
  return Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
}

async function plan(typeName: string, prior: ObjectValue | null, next: ObjectValue | null) {
  const { planned, diagnostics } = await planResourceChange(server, { typeName, prior, proposed: next, config: next });
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return { planned, errors: errors.map(({ summary, detail, path }) => `${path}: ${summary}: ${detail}`) };
}

const member = (values: Record<string, Value> = {}) =>
  whole("talosmith_member", { name: "w-2", cluster: "test", machine_id: "i-2", address: "10.0.0.3", ...values });

describe("a membership", () => {
  const kept = member({ on_destroy: "prevent", id: "test/i-2" });

  test("is refused to be destroyed, which is how a scale-down begins", async () => {
    const { errors } = await plan("talosmith_member", kept, null);
    expect(errors).toEqual([expect.stringMatching(/^on_destroy: The machine is protected: .*w-2.*apply that first/)]);
  });

  test.each(["name", "cluster", "machine_id"])("is refused to be replaced by another %s", async (name) => {
    for (const value of ["other", unknown]) {
      const { errors } = await plan("talosmith_member", kept, member({ on_destroy: "prevent", [name]: value }));
      expect(errors).toEqual([expect.stringContaining('w-2 is "prevent": the machine can\'t be replaced')]);
    }
  });

  test("is refused at the apply where Terraform does not show its end before, as with -replace", async () => {
    const change = { typeName: "talosmith_member", prior: kept, planned: null, config: null };
    const { diagnostics } = await applyResourceChange(server, { ...change });
    expect(diagnostics).toMatchObject([{ summary: "The machine is protected" }]);
  });

  test("is made, changed elsewhere and lifted", async () => {
    const created = await plan("talosmith_member", null, member({ on_destroy: "prevent" }));
    expect(created).toMatchObject({ errors: [], planned: { on_destroy: "prevent" } });
    expect(
      (await plan("talosmith_member", kept, member({ on_destroy: "prevent", address: "10.0.0.9" }))).errors,
    ).toEqual([]);
    expect((await plan("talosmith_member", kept, member({ on_destroy: "leave" }))).errors).toEqual([]);
    expect((await plan("talosmith_member", member({ on_destroy: "leave" }), null)).errors).toEqual([]);
  });
});

describe("a cluster", () => {
  const machine = (role: string, address: string) => ({
    role,
    address,
    fingerprint: null,
    member_id: null,
    hardware_id: null,
    disk_size: null,
    patches: null,
    patch_files: null,
    meta: null,
  });
  const all = {
    "cp-1": machine("controlplane", "10.0.0.1"),
    "w-1": machine("worker", "10.0.0.2"),
    "w-2": machine("worker", "10.0.0.3"),
  };
  const { "w-2": _, ...fewer } = all;
  const values = (machines: ObjectValue, on_destroy: string) => ({
    name: "test",
    endpoint: "https://10.0.0.1:6443",
    talos_version: "v1.13.9",
    kubernetes_version: "1.36.3",
    machines,
    on_destroy,
  });
  const state = async (on_destroy: string) => {
    const { planned } = await plan("talosmith_cluster", null, whole("talosmith_cluster", values(all, on_destroy)));
    return planned as ObjectValue;
  };

  test("is refused to be destroyed", async () => {
    const { errors } = await plan("talosmith_cluster", await state("prevent"), null);
    expect(errors).toEqual([expect.stringMatching(/^on_destroy: The cluster is protected: .*apply that first/)]);
  });

  test.each([
    ["prevent", "prevent"],
    ["prevent", "reset"],
    ["reset", "prevent"],
  ])("is refused to lose a machine, from %s to %s", async (before, after) => {
    const next = whole("talosmith_cluster", values(fewer, after));
    const { errors } = await plan("talosmith_cluster", await state(before), next);
    expect(errors).toEqual([expect.stringMatching(/^machines: The cluster is protected: .*w-2 can't be removed/)]);
  });

  test("is lifted, and then loses it", async () => {
    const lifted = whole("talosmith_cluster", values(all, "reset"));
    expect((await plan("talosmith_cluster", await state("prevent"), lifted)).errors).toEqual([]);
    const next = whole("talosmith_cluster", values(fewer, "reset"));
    expect((await plan("talosmith_cluster", await state("reset"), next)).errors).toEqual([]);
  });
});
