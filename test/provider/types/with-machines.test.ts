// SPDX-License-Identifier: Apache-2.0
// What types do that need a machine to ask: against simulated ones, without Terraform.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MachineTarget, talosMachines } from "../../../engine/index.ts";
import {
  applyResourceChange,
  configureProvider,
  importResourceState,
  type ObjectValue,
  planResourceChange,
  readResource,
  Server,
  schemaOf,
  unknown,
  type Value,
} from "../../../provider/framework/index.ts";
import { talosmithProvider } from "../../../provider/types/index.ts";
import { connect } from "../../../talos/api/index.ts";
import { systemClock, systemEntropy } from "../../../talos/clock.ts";
import { issueAdminCredentials } from "../../../talos/config/index.ts";
import { testSecrets, testSecretsFile } from "../../engine/fixture.ts";
import { type SimulatedLab, simulatedLab } from "../../engine/simulated-cluster.ts";
import { everything } from "../../support/everything.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-types-"));
let lab: SimulatedLab;
let server: Server;
/** The same with an owner. */
let owned: Server;
let address: string;
const none: Record<string, Value> = { secrets_encryption: null, age_recipients: null, secrets: null };

beforeAll(async () => {
  copyFileSync(testSecretsFile, join(root, "secrets.yaml"));
  const options = { workingDirectory: root, environment: { TALOSMITH_ROOT: root }, daemonCommand: ["node"] } as const;
  server = new Server(talosmithProvider(options), () => undefined) as Server;
  await configureProvider(server, { ...none, secrets_file: "secrets.yaml" });
  owned = new Server(talosmithProvider(options), () => undefined) as Server;
  await configureProvider(owned, { ...none, secrets_file: "secrets.yaml", owner: "first" });
  lab = await simulatedLab("demo");
  ({ address } = await lab.create("cp-1"));
  await lab.apply(await lab.desired(["cp-1"]));
});
afterAll(async () => {
  await lab.end();
  rmSync(root, { recursive: true, force: true });
});

function objectOf(type: string, values: Record<string, Value>): ObjectValue {
  const names = Object.keys(schemaOf(server.resource(type)).attributes);
  return Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
}

describe("a backup that takes the place of another", () => {
  const type = "talosmith_etcd_snapshot";
  const computed = ["id", "place", "host", "taken_at", "bytes", "sha256", "revision", "hash"];
  const planned = (trigger: string) =>
    objectOf(type, {
      cluster_name: "demo",
      endpoints: [address],
      directory: "backups",
      triggers: { trigger },
      on_destroy: "remove",
      ...Object.fromEntries(computed.map((name) => [name, unknown])),
    });
  const apply = (trigger: string, prior: Value) =>
    applyResourceChange(server, { typeName: type, prior, planned: planned(trigger), config: planned(trigger) });

  test("is kept in the state also where the other cannot be removed", async () => {
    const first = await apply("one", null);
    expect(first.diagnostics).toEqual([]);
    const { id } = first.state as ObjectValue;
    const manifest = join(root, "backups", `${id}.json`);
    rmSync(manifest);
    mkdirSync(manifest);
    const second = await apply("two", first.state);
    expect(second.diagnostics).toMatchObject([
      { severity: "warning", detail: expect.stringContaining(String(id)), summary: "The old backup was left" },
    ]);
    const found = (second.state as ObjectValue).id;
    expect(found).not.toBe(id);
    expect(readdirSync(join(root, "backups"))).toContain(`${found}.json`);
  });
});

describe("a backup in a folder that does not hold it", () => {
  const type = "talosmith_etcd_snapshot";
  const state = (host: string | null) =>
    objectOf(type, {
      cluster_name: "demo",
      endpoints: [address],
      directory: "none",
      id: "demo-1",
      place: "none",
      host,
    });

  test.each([
    ["was taken here is gone", hostname(), true],
    ["was taken before this was noted is gone", null, true],
    ["was taken on another computer is kept, and told", "elsewhere", false],
  ])("and that %s", async (_, host, gone) => {
    const read = await readResource(server, type, state(host));
    expect(read.state === null).toBe(gone);
    expect(read.diagnostics).toMatchObject(
      gone ? [] : [{ severity: "warning", detail: expect.stringContaining("demo-1 was taken on elsewhere") }],
    );
  });
});

describe("a cluster that another state has taken over", () => {
  const type = "talosmith_cluster";
  const read = async (remembered: string) => {
    const { state } = await importResourceState(owned, type, address);
    return (await readResource(owned, type, state as ObjectValue, remembered)).diagnostics;
  };
  const record = async (owner: string) => {
    const machines = talosMachines({ desired: await lab.desired(["cp-1"]), secrets: testSecrets() });
    await machines.kubernetes.changeOwnership(() => ({ owner, joined: [], applies: 1 }));
    machines.close();
  };

  test("is refused by a refresh of the state that had it, so that a plan says it", async () => {
    await record("second");
    expect(await read('{"owner":"first","applies":1}')).toMatchObject([
      {
        severity: "error",
        summary: "Exists already",
        detail: expect.stringMatching(
          /^the cluster belongs to another state: second\n\nThis is first\..*terraform state rm/s,
        ),
      },
    ]);
  });

  test("is read by the one that has imported it, and by the first when it is its own again", async () => {
    expect(await read("")).toEqual([]);
    await record("first");
    expect(await read('{"owner":"first","applies":1}')).toEqual([]);
  });
});

describe("a cluster that talosctl has upgraded, with configs of an older contract", () => {
  const type = "talosmith_cluster";
  let upgraded: SimulatedLab;
  let first: string;
  beforeAll(async () => {
    upgraded = await simulatedLab("upgraded");
    ({ address: first } = await upgraded.create("cp-1", "v1.14.1"));
    await upgraded.apply(await upgraded.desired(["cp-1"], { talos: "v1.14.1", contract: "v1.13" }));
  });
  afterAll(() => upgraded.end());

  test("is imported with that contract, and a plan changes nothing", async () => {
    const { state: imported, diagnostics } = await importResourceState(server, type, first);
    expect(diagnostics).toEqual([]);
    expect(imported).toMatchObject({ talos_version: "v1.14.1", config_contract: "v1.13" });
    const read = await readResource(server, type, imported as ObjectValue);
    expect(read.diagnostics).toEqual([]);
    expect(read.state).toMatchObject({ drift: [] });
    const prior = read.state as ObjectValue;
    // As a stack has it that does not say the contract.
    const config = { ...prior, config_contract: null };
    const { planned, diagnostics: refused } = await planResourceChange(server, {
      typeName: type,
      prior,
      proposed: prior,
      config,
    });
    expect(refused).toEqual([]);
    expect(planned).toMatchObject({ config_contract: "v1.13", steps: [], changes: {} });
  });
});

describe("a refresh of a cluster", () => {
  const type = "talosmith_cluster";
  const faults = async (...list: Parameters<typeof lab.simulator.setFaults>[1]) => {
    const [machine] = await lab.simulator.listMachines();
    await lab.simulator.setFaults(machine?.id ?? "", list);
  };
  afterAll(() => faults());

  test("warns of a component that is not ready, which is no change", async () => {
    const { state } = await importResourceState(server, type, address);
    await faults({ kind: "component-not-ready", component: "kube-scheduler" });
    const warning = {
      severity: "warning",
      summary: "The cluster is not healthy",
      detail: expect.stringContaining("cp-1: kube-scheduler is not ready"),
    };
    const looked = () => readResource(server, type, state as ObjectValue);
    await expect.poll(async () => (await looked()).diagnostics, { timeout: 10_000 }).toMatchObject([warning]);
    expect((await looked()).state).toMatchObject({ drift: [] });
    await faults();
    await expect.poll(async () => (await looked()).diagnostics, { timeout: 10_000 }).toEqual([]);
  });

  /** A refresh of a state that the cluster is ahead of, as an apply leaves it that was stopped, and the plan after it. */
  async function planAfter(older: Record<string, Value>, next: Record<string, Value>) {
    const { state } = await importResourceState(server, type, address);
    const prior = { ...(state as ObjectValue), steps: [], changes: {}, ...older };
    const read = await readResource(server, type, prior);
    expect(read.diagnostics).toEqual([]);
    const refreshed = read.state as ObjectValue;
    const config = { ...refreshed, drift: null, steps: null, changes: null, id: null, ...next };
    const request = { typeName: type, prior: refreshed, proposed: { ...refreshed, ...next }, config };
    const known = await planResourceChange(server, { ...request, remembered: read.remembered });
    const assumed = await planResourceChange(server, request);
    return { known, assumed, remembered: read.remembered };
  }
  const stepsIn = ({ planned }: { planned: Value }) => (planned as ObjectValue).steps;

  test.each([
    ["Talos", { talos_version: "v1.13.8" }, { talos_version: "v1.13.9" }, /upgrade Talos on cp-1 from v1\.13\.8/],
    ["Kubernetes", { kubernetes_version: "1.36.1" }, { kubernetes_version: "1.36.3" }, /kube-apiserver on cp-1/],
  ])(
    "after an upgrade of %s that was stopped leaves the plan the steps that are left",
    async (_, older, next, step) => {
      const { known, assumed, remembered } = await planAfter(older, next);
      expect(JSON.stringify(stepsIn(assumed))).toMatch(step);
      expect(stepsIn(known)).toEqual([]);
      expect(known.diagnostics).toEqual([]);
      for (const secret of [testSecrets().certs.os.key, testSecrets().cluster.secret])
        expect(remembered).not.toContain(secret);
    },
  );

  test("keeps nothing beside the state of a cluster that is as its state says", async () => {
    const { state } = await importResourceState(server, type, address);
    expect((await readResource(server, type, state as ObjectValue, '{"owner":"first"}')).remembered).toBe(
      '{"owner":"first"}',
    );
  });

  test.each([
    ["Talos", { talos_version: "v1.13.8" }, "v1.13.9 is newer than v1.13.8, and Talos is never downgraded"],
    ["Kubernetes", { kubernetes_version: "1.35.4" }, "cp-1 runs Kubernetes 1.36.3"],
  ])("is followed by a warning where the plan keeps an older %s than runs", async (_, older, words) => {
    const { known } = await planAfter(older, {});
    expect(known.diagnostics).toMatchObject([{ severity: "warning", detail: expect.stringContaining(words) }]);
  });
});

describe("a cluster whose machines do not announce themselves", () => {
  const patches = { all: ["cluster:\n  discovery:\n    enabled: false\n"] };
  let quiet: SimulatedLab;
  let first: string;
  beforeAll(async () => {
    quiet = await simulatedLab("quiet");
    ({ address: first } = await quiet.create("cp-1"));
    for (const name of ["cp-2", "cp-3", "cp-4", "w-2"]) await quiet.create(name);
    await quiet.apply(await quiet.desired(["cp-1", "cp-2", "cp-3", "cp-4", "w-2"], { patches }));
  });
  afterAll(() => quiet.end());

  const leave = async (name: string, values: Record<string, Value> = {}) => {
    const machine = (await quiet.simulator.listMachines()).find((one) => one.name === name);
    const member = { name, cluster: "quiet", machine_id: name, address: machine?.address ?? "", on_destroy: "leave" };
    const prior = objectOf("talosmith_member", { ...member, ...values });
    const change = { typeName: "talosmith_member", prior, planned: null, config: null };
    return (await applyResourceChange(server, change)).diagnostics;
  };
  const switchOff = async (name: string) => {
    const machine = (await quiet.simulator.listMachines()).find((one) => one.name === name);
    await quiet.simulator.setPower(machine?.id ?? "", false);
  };
  const inEtcd = async () => {
    const secrets = testSecrets();
    const pair = issueAdminCredentials(secrets, { clock: systemClock, entropy: systemEntropy, ttl: 3_600_000 });
    const machine = connect(first, { kind: "mtls", credentials: { ca: secrets.certs.os.certificate, ...pair } });
    const members = await machine.etcdMemberList({ local: true });
    machine.close();
    return members.map(({ hostname }) => hostname).sort();
  };

  test("is imported with the control planes that etcd knows", async () => {
    const { state, diagnostics } = await importResourceState(server, "talosmith_cluster", first);
    const names = ["cp-1", "cp-2", "cp-3", "cp-4"];
    expect(Object.keys((state as ObjectValue).machines as ObjectValue).sort()).toEqual(names);
    expect(diagnostics).toMatchObject([{ severity: "warning", summary: "Workers were not found" }]);
  });

  test("lets a control plane leave that the others can do without", async () => {
    expect(await leave("cp-4")).toEqual([]);
    expect(await inEtcd()).toEqual(["cp-1", "cp-2", "cp-3"]);
  });

  // A machine that stays off is waited for as long as a wipe may take.
  test.runIf(everything)(
    "powers a machine off that would read its config from user-data again",
    async () => {
      const stage = async () => (await quiet.simulator.listMachines()).find(({ name }) => name === "w-3")?.stage;
      await quiet.create("w-3");
      await quiet.apply(await quiet.desired(["cp-1", "cp-2", "cp-3", "w-2", "w-3"], { patches }));
      expect(await leave("w-3", { config_source: "user-data" })).toEqual([]);
      expect(await stage()).toBe("off");
    },
    120_000,
  );

  test("only warns of a dead machine where nobody knows of the others", async () => {
    await switchOff("cp-3");
    expect(await leave("cp-3")).toMatchObject([{ severity: "warning", summary: "A machine did not leave by itself" }]);
    expect(await inEtcd()).toEqual(["cp-1", "cp-2", "cp-3"]);
  });

  test("takes a dead control plane out of etcd by the others, which a refresh has noted", async () => {
    const { state } = await importResourceState(server, "talosmith_cluster", first);
    await readResource(server, "talosmith_cluster", state as ObjectValue);
    expect(await leave("cp-3")).toMatchObject([
      { severity: "warning", detail: expect.stringMatching(/^cp-3: .*its disk was not wiped/) },
    ]);
    expect(await inEtcd()).toEqual(["cp-1", "cp-2"]);
    expect(await leave("cp-3")).toMatchObject([{ severity: "warning" }]);
  });

  test("deletes the Node of a machine that an interrupted run has wiped", async () => {
    const desired = await quiet.desired(["cp-1", "cp-2", "w-2"]);
    const nodes = async () => {
      const { kubernetes } = await quiet.observe(desired);
      return kubernetes.kind === "reachable" ? kubernetes.nodes.map(({ name }) => name) : [];
    };
    const machines = talosMachines({ desired, secrets: testSecrets() });
    const worker = desired.machines.find(({ name }) => name === "w-2") as MachineTarget;
    await machines.reset(worker, { graceful: false, reboot: true });
    await expect.poll(async () => (await machines.inspect(worker)).kind, { timeout: 30_000 }).toBe("maintenance");
    machines.close();
    expect(await nodes()).toContain("w-2");
    expect(await leave("w-2")).toEqual([]);
    expect(await nodes()).not.toContain("w-2");
  });

  test("keeps a dead control plane whose member etcd cannot do without", async () => {
    await switchOff("cp-2");
    const refused = [{ severity: "error", detail: expect.stringContaining("cp-2 cannot leave: of 2 etcd members") }];
    expect(await leave("cp-2")).toMatchObject(refused);
    expect(await leave("cp-2", { talos_endpoints: [first] })).toMatchObject(refused);
    expect(await inEtcd()).toEqual(["cp-1", "cp-2"]);
  });

  test("keeps a dead control plane while none of the others can be asked", async () => {
    await switchOff("cp-1");
    expect(await leave("cp-2")).toMatchObject([
      {
        severity: "error",
        detail: expect.stringMatching(/^cp-2: .*None of the other control planes answers.*state rm/s),
      },
    ]);
    expect(await leave("w-1", { address: first })).toMatchObject([{ severity: "warning" }]);
  });
});

const emptyMachine = {
  fingerprint: null,
  member_id: null,
  hardware_id: null,
  disk_size: null,
  patches: null,
  patch_files: null,
  meta: null,
};

describe("the membership of the last control plane", () => {
  const type = "talosmith_member";
  const destroy = () => {
    const prior = objectOf(type, { name: "cp-1", cluster: "demo", machine_id: "1", address, on_destroy: "leave" });
    return applyResourceChange(server, { typeName: type, prior, planned: null, config: null });
  };
  const stage = async () => (await lab.simulator.listMachines()).map((machine) => machine.stage);

  test("is not given up while its etcd runs", async () => {
    const { diagnostics } = await destroy();
    expect(diagnostics).toMatchObject([
      { severity: "error", detail: expect.stringContaining("it holds the last member of etcd") },
    ]);
    expect(await stage()).toEqual(["running"]);
  });

  test("is not given up after workers that were to join its cluster have failed to", async () => {
    const cluster = "talosmith_cluster";
    const worker = objectOf(cluster, {
      name: "demo",
      endpoint: `https://${address}:6443`,
      talos_version: "v1.13.9",
      kubernetes_version: "1.36.3",
      machines: { "w-1": { ...emptyMachine, role: "worker", address: "127.0.0.1:1" } },
      join: { control_planes: [address] },
      timeouts: { create: "2s", read: null, update: null, delete: null },
      ...Object.fromEntries(
        ["id", "ca_fingerprint", "patch_file_hashes", "steps", "changes", "drift"].map((name) => [name, unknown]),
      ),
    });
    const failed = await applyResourceChange(server, {
      typeName: cluster,
      prior: null,
      planned: worker,
      config: worker,
    });
    expect(failed.diagnostics).toMatchObject([{ severity: "error", detail: expect.stringContaining("w-1") }]);
    expect((await destroy()).diagnostics).toMatchObject([
      { severity: "error", detail: expect.stringContaining("it holds the last member of etcd") },
    ]);
  });

  test("is not given up while its etcd is down: the data may be all that there is", async () => {
    const secrets = testSecrets();
    const pair = issueAdminCredentials(secrets, { clock: systemClock, entropy: systemEntropy, ttl: 3_600_000 });
    const credentials = { ca: secrets.certs.os.certificate, ...pair };
    const machine = connect(address, { kind: "mtls", credentials });
    await machine.service("etcd", "stop");
    machine.close();
    const { diagnostics } = await destroy();
    expect(diagnostics).toMatchObject([{ severity: "error", detail: expect.stringContaining("cp-1") }]);
    expect(await stage()).toEqual(["running"]);
  });

  test("of a cluster that never was complete is given up all the same", async () => {
    mkdirSync(join(root, "generated", ".creating", "demo"), { recursive: true });
    expect((await destroy()).diagnostics).toEqual([]);
    await expect.poll(stage).not.toEqual(["running"]);
  });
});
