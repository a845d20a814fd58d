// SPDX-License-Identifier: Apache-2.0
// A cluster with a machine that an auto scaling group has started: found by a refresh, planned and changed, never listed.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { desiredCluster, withPoolMachines } from "../../../engine/index.ts";
import {
  applyResourceChange,
  configureProvider,
  importResourceState,
  type ObjectValue,
  planResourceChange,
  readResource,
  Server,
  type Value,
  validateConfig,
} from "../../../provider/framework/index.ts";
import { talosmithProvider } from "../../../provider/types/index.ts";
import { Contract, TalosVersion } from "../../../talos/version/index.ts";
import { openWorkspace } from "../../../workspace/workspace.ts";
import { testSecrets, testSecretsFile } from "../../engine/fixture.ts";
import { type SimulatedLab, simulatedLab } from "../../engine/simulated-cluster.ts";
import { testContext } from "../../support/command-context.ts";

const typeName = "talosmith_cluster";
const root = mkdtempSync(join(tmpdir(), "talosmith-pools-"));
const label = "machine:\n  nodeLabels:\n    talosmith.internal/pool: burst\n";
const sysctls = "machine:\n  sysctls:\n    vm.nr_hugepages: '1'\n";
const pools = (...patches: string[]) => ({ burst: { patches, patch_files: null } });
let lab: SimulatedLab;
let server: Server;
let imported: ObjectValue;

beforeAll(async () => {
  copyFileSync(testSecretsFile, join(root, "secrets.yaml"));
  const options = { workingDirectory: root, environment: { TALOSMITH_ROOT: root }, daemonCommand: ["node"] } as const;
  server = new Server(talosmithProvider(options), () => undefined) as Server;
  const none = { secrets_encryption: null, age_recipients: null, secrets: null };
  await configureProvider(server, { ...none, secrets_file: "secrets.yaml" });
  lab = await simulatedLab("scaled");
  const { address } = await lab.create("cp-1");
  await lab.apply(await lab.desired(["cp-1"]));
  imported = (await importResourceState(server, typeName, address)).state as ObjectValue;
  // The group starts a machine with the Talos of an older image.
  const { id, address: own } = await lab.create("i-1", "v1.13.8");
  const machines = await lab.machines(["cp-1"]);
  const spec = {
    name: "scaled",
    endpoint: String(imported.endpoint),
    // The simulator installs what the config names.
    talosVersion: TalosVersion.parse("v1.13.8"),
    contract: Contract.parse("v1.13"),
    kubernetesVersion: "1.36.3",
    machines,
    scalingPools: { burst: { patches: [label] } },
  };
  const started = desiredCluster(
    withPoolMachines(spec, [{ name: "i-1", address: own, scalingPool: "burst" }]),
    testSecrets(),
  );
  await lab.simulator.setPower(id, false);
  await lab.simulator.setUserData(id, started.machines.find(({ name }) => name === "i-1")?.config.text);
  await lab.simulator.setPower(id, true);
}, 60_000);
afterAll(async () => {
  await lab.end();
  rmSync(root, { recursive: true, force: true });
});

const prior = () => ({ ...imported, scaling_pools: pools(label), steps: [], changes: {}, on_destroy: "reset" });
const read = (state: ObjectValue = prior(), remembered = "") => readResource(server, typeName, state, remembered);
async function planned(next: Record<string, Value>) {
  const { state, remembered } = await read();
  const refreshed = state as ObjectValue;
  const config = { ...refreshed, drift: null, steps: null, changes: null, id: null, ...next };
  const request = { typeName, prior: refreshed, proposed: { ...refreshed, ...next }, config, remembered };
  return { ...(await planResourceChange(server, request)), refreshed, config, remembered };
}

test("a refresh finds it behind its template, and lists it nowhere", async () => {
  const drift = async () => ((await read()).state as ObjectValue).drift;
  await expect
    .poll(drift, { timeout: 30_000 })
    .toEqual(expect.arrayContaining(["upgrade Talos on i-1 from v1.13.8 to v1.13.9"]));
  expect(Object.keys(((await read()).state as ObjectValue).machines as ObjectValue)).toEqual(["cp-1"]);
});

test("commands find it by the state alone", async () => {
  for (const folder of ["environments", "state"]) mkdirSync(join(root, folder));
  writeFileSync(join(root, "cdktf.json"), "{}");
  writeFileSync(
    join(root, "environments/scaled.yaml"),
    "infrastructure: { kind: aws, region: eu-central-1, adminCidrs: [198.51.100.0/24] }\ncontrolPlane: { count: 1 }\nsecrets: { file: secrets.yaml }\n",
  );
  const cluster = {
    ...{ mode: "managed", type: typeName, name: "cluster", provider: "talosmith" },
    instances: [{ schema_version: 0, attributes: prior() }],
  };
  const resources = [cluster, { ...cluster, type: "aws_instance", instances: [{ schema_version: 0, attributes: {} }] }];
  const state = { version: 4, terraform_version: "1.11.4", serial: 1, lineage: "a", outputs: {}, resources };
  writeFileSync(join(root, "state/scaled.tfstate"), JSON.stringify(state));
  const workspace = openWorkspace("scaled", testContext({ cwd: root, env: {} }));
  const names = async () => (await workspace.until(new AbortController().signal).deployed()).desired.machines;
  await expect.poll(async () => (await names()).map(({ name }) => name), { timeout: 30_000 }).toEqual(["cp-1", "i-1"]);
});

test("a plan has its steps and what changes in its config", async () => {
  const { planned: plan, diagnostics } = await planned({ scaling_pools: pools(label, sysctls) });
  expect(diagnostics).toEqual([]);
  expect(plan).toMatchObject({ changes: { "i-1": [expect.stringContaining("vm.nr_hugepages")] } });
  const steps = (plan as ObjectValue).steps as readonly string[];
  expect(steps.join("\n")).toMatch(/drain i-1\n.*upgrade Talos on i-1 from v1\.13\.8 to v1\.13\.9\n.*config to i-1/s);
});

test("a plan without its pool warns that nobody drains it", async () => {
  const { diagnostics } = await planned({ scaling_pools: null });
  expect(diagnostics).toMatchObject([
    {
      severity: "warning",
      detail: expect.stringMatching(/^i-1 .*kubectl drain -l 'talosmith\.internal\/pool in \(burst\)'/),
    },
  ]);
});

test("an apply upgrades and changes it; a destroy leaves it to its group", async () => {
  const { planned: plan, refreshed, config, remembered } = await planned({ scaling_pools: pools(label, sysctls) });
  const applied = await applyResourceChange(server, {
    ...{ typeName, prior: refreshed, planned: plan, config: config as ObjectValue, remembered },
  });
  expect(applied.diagnostics).toEqual([]);
  const after = await read(applied.state as ObjectValue, applied.remembered);
  expect(after.diagnostics).toEqual([]);
  expect(after.state).toMatchObject({ drift: [] });
  const ended = await applyResourceChange(server, {
    ...{ typeName, prior: after.state as ObjectValue, planned: null, config: null, remembered: after.remembered },
  });
  expect(ended.diagnostics).toEqual([]);
  const stages = (await lab.simulator.listMachines()).map(({ name, stage }) => `${name} ${stage}`);
  expect(stages).toEqual(["cp-1 maintenance", "i-1 running"]);
});

test("workers of another stack's control plane have no such pools", async () => {
  const joining = { ...prior(), join: { control_planes: ["10.0.0.1"] } };
  expect(await validateConfig(server, server.resource(typeName), joining)).toContainEqual(
    expect.objectContaining({ summary: "Scaling pools without control planes" }),
  );
});
