// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { registerPlan, registerUp, registerUpgrade } from "../../cli/commands/lifecycle.ts";
import { registerAdopt } from "../../cli/commands/project.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import type { DesiredCluster } from "../../engine/index.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { configChange, encodeTalosconfig, generateTalosconfig } from "../../talos/config/index.ts";
import { encodeSecrets, generateThrowawaySecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import { Contract } from "../../talos/version/index.ts";
import { type SimulatedLab, simulatedLab } from "../engine/simulated-cluster.ts";
import { testContext } from "../support/command-context.ts";
import { everything } from "../support/everything.ts";
import { officialState, operatorObjects, talconfig } from "../support/foreign-cluster.ts";
import { programFolder } from "../support/programs.ts";

const newSecrets = () =>
  generateThrowawaySecrets({ contract: Contract.parse("v1.13"), clock: systemClock, entropy: systemEntropy });
const password = "hunter2-of-the-registry";

/** As clusters are found: machines that name themselves, and what the generator would not write. */
const patchesOf = (talos: string) => ({
  all: [
    talos === "v1.11.6"
      ? "machine: { network: { hostname: { $patch: delete } } }"
      : "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: stable\nhostname: { $patch: delete }",
    "machine: { sysctls: { net.core.somaxconn: '65535' }, certSANs: [talos.example.com] }",
    "apiVersion: v1alpha1\nkind: WatchdogTimerConfig\ndevice: /dev/watchdog0",
    `machine: { registries: { config: { registry.example.com: { auth: { username: pull, password: ${password} } } } } }`,
    `apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: tailscale\nenvironment: [TS_AUTHKEY=${password}]`,
  ],
  controlPlane: isSplit(talos)
    ? ["apiVersion: v1alpha1\nkind: KubeAPIServerConfig\nextraArgs: { profiling: 'false' }"]
    : [
        "cluster: { apiServer: { extraArgs: { profiling: 'false' } }, controllerManager: { extraArgs: { bind-address: 0.0.0.0 } } }",
      ],
  worker: isSplit(talos)
    ? ["apiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels: { tier: web }"]
    : ["machine: { nodeLabels: { tier: web } }"],
});
/** Its contract keeps Kubernetes and discovery in documents of their own. */
const isSplit = (talos: string) => talos === "v1.14.1";
const withoutDiscovery = (talos: string) =>
  isSplit(talos)
    ? "apiVersion: v1alpha1\nkind: DiscoveryServiceConfig\nname: default\n$patch: delete"
    : "cluster: { discovery: { enabled: false } }";

const versions = everything ? ["v1.14.1", "v1.13.9", "v1.12.11", "v1.11.6"] : ["v1.13.9"];

describe.each(versions)("adopting a cluster of %s that others made", (talos) => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-adopt-"));
  const at = (path: string) => join(root, path);
  let secrets: SecretsBundle;
  const kubernetes = ["v1.14.1", "v1.13.9"].includes(talos) ? "1.36.3" : "1.34.2";
  let lab: SimulatedLab;
  let addresses: readonly string[];

  // An adopted cluster is not terraform's, even where that is on the PATH.
  const path = programFolder({ terraform: "/bin/false" });
  let env: Readonly<Record<string, string>> = { PATH: path };
  async function talosmith(...args: string[]) {
    const context = testContext({ cwd: root, env, clock: systemClock });
    await runProgram(createProgram(context, [registerAdopt, registerPlan, registerUp]), args, context);
    return context.written;
  }

  beforeAll(async () => {
    mkdirSync(at("environments"));
    mkdirSync(at("theirs"));
    writeFileSync(at("cdktf.json"), "{}");
    secrets = await newSecrets();
    lab = await simulatedLab("theirs", secrets);
    for (const name of ["cp-1", "w-1", "w-2"]) await lab.create(name, talos);
    const wish = { talos, kubernetesVersion: kubernetes, patches: patchesOf(talos) };
    const desired = await lab.desired(["cp-1", "w-1", "w-2"], wish);
    await lab.apply(desired, { timeouts: { step: 60_000, reachable: 60_000, health: 60_000 } });
    addresses = desired.machines.map(({ address }) => address);
    const talosconfig = generateTalosconfig(secrets, {
      clusterName: "theirs",
      endpoints: addresses.slice(0, 1),
      clock: systemClock,
      entropy: systemEntropy,
    });
    writeFileSync(at("theirs/talosconfig"), encodeTalosconfig(talosconfig));
    writeFileSync(at("theirs/controlplane.yaml"), desired.machines[0]?.config.text ?? "");
    writeFileSync(at("theirs/talconfig.yaml"), talconfig("theirs", desired.endpoint, addresses));
    writeFileSync(at("theirs/talsecret.yaml"), encodeSecrets(secrets));
    writeFileSync(at("theirs/state.json"), JSON.stringify(officialState(secrets, addresses)));
    writeFileSync(at("theirs/objects.yaml"), operatorObjects(encodeSecrets(secrets), addresses));
  });

  afterAll(async () => {
    await lab.end();
    rmSync(root, { recursive: true, force: true });
  });

  test("from talosctl's files gives an environment whose plan is empty, and a deploy that changes nothing", async () => {
    const { exitCode, stderr } = await talosmith("adopt", "taken", "--talosctl", "theirs");
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toContain(
      "Adopted 3 machines: environments/taken.yaml and secrets/taken.yaml and secrets/taken.patch.yaml",
    );
    const text = readFileSync(at("environments/taken.yaml"), "utf8");
    expect(text).toContain("kind: metal");
    expect(text).toContain(`configContract: ${/v1\.\d+/.exec(talos)?.[0]}\n`);
    // The usual installer follows from the version, so that a newer version is all that an upgrade needs.
    expect(text).not.toContain("installImage");
    expect(text).toContain("tier: web");
    expect(text).not.toMatch(/PRIVATE KEY|LS0tLS1/);
    // What is secret in the configs lies apart; who pulls is none of it.
    expect(text).not.toContain(password);
    expect(text).toContain("username: pull");
    expect(text).toContain("- secrets/taken.patch.yaml");
    expect(readFileSync(at("secrets/taken.patch.yaml"), "utf8").match(new RegExp(password, "g"))).toHaveLength(2);
    for (const file of ["secrets/taken.yaml", "secrets/taken.patch.yaml"])
      expect(statSync(at(file)).mode & 0o777).toBe(0o600);
    expect(await talosmith("plan", "taken")).toMatchObject({
      stdout: "Nothing to change.\n",
      stderr: expect.stringContaining("taken is managed without Terraform.\n"),
    });
    const up = await talosmith("up", "taken", "--json");
    expect(up.exitCode, up.stderr).toBe(0);
    expect(up.stdout).toContain("nothing to do");
    expect(existsSync(at("generated/taken/kubeconfig"))).toBe(true);
  });

  test.each([
    ["talhelper's", ["--talhelper", "theirs/talconfig.yaml"]],
    ["a state of the official provider", ["--terraform-state", "theirs/state.json"]],
    ["talos-operator's objects", ["--talos-operator", "theirs/objects.yaml"]],
    ["a bundle and one address", ["--secrets", "theirs/talsecret.yaml"]],
  ])("from %s says the same", async (_, flags) => {
    const nodes = flags[0] === "--secrets" ? ["--nodes", addresses[0] ?? ""] : [];
    const { stdout, stderr, exitCode } = await talosmith("adopt", "again", ...flags, ...nodes, "--dry-run");
    expect(exitCode, stderr).toBe(0);
    expect(stdout.replace("again.patch", "taken.patch")).toBe(readFileSync(at("environments/taken.yaml"), "utf8"));
    expect(existsSync(at("environments/again.yaml"))).toBe(false);
  });

  test("becomes objects of the Kubernetes API, which say the same, and names the way of its secrets", async () => {
    const flags = ["--talos-operator", "theirs/objects.yaml", "--to-crds"];
    const { stderr, exitCode } = await talosmith("adopt", "native", ...flags);
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toContain(
      "kubectl create secret generic native-talos-secrets --from-file=secrets.yaml=secrets/native.yaml --from-file=patches.yaml=secrets/native.patch.yaml && kubectl apply --filename=objects/native.yaml",
    );
    const text = readFileSync(at("objects/native.yaml"), "utf8");
    expect(text).not.toContain(password);
    const taken = parse(readFileSync(at("environments/taken.yaml"), "utf8"));
    const { patchFiles: _, ...cluster } = taken.cluster;
    expect(parse(text)).toEqual({
      apiVersion: "talosmith.dev/v1alpha1",
      kind: "TalosCluster",
      metadata: { name: "native" },
      spec: { manage: "Observe", ...taken, cluster },
    });
    expect(existsSync(at("environments/native.yaml"))).toBe(false);
    for (const file of ["objects/native.yaml", "secrets/native.yaml", "secrets/native.patch.yaml"]) rmSync(at(file));
  });

  test("encrypts all that is secret, where it is told for whom", async () => {
    const identity = await generateIdentity();
    const recipient = await identityToRecipient(identity);
    const { exitCode, stderr } = await talosmith(
      "adopt",
      "sealed",
      "--talosctl",
      "theirs",
      "--age-recipient",
      recipient,
    );
    expect(exitCode, stderr).toBe(0);
    for (const file of ["secrets/sealed.yaml.age", "secrets/sealed.patch.yaml.age"])
      expect(readFileSync(at(file), "utf8")).toContain("BEGIN AGE ENCRYPTED FILE");
    env = { ...env, SOPS_AGE_KEY: identity };
    expect((await talosmith("plan", "sealed")).stdout).toBe("Nothing to change.\n");
    env = { PATH: path };
  });

  test("finds the names of machines that know nothing of each other", async () => {
    const alone = { ...patchesOf(talos), all: [...patchesOf(talos).all, withoutDiscovery(talos)] };
    await lab.apply(
      await lab.desired(["cp-1", "w-1", "w-2"], { talos, kubernetesVersion: kubernetes, patches: alone }),
    );
    const nodes = ["--secrets", "theirs/talsecret.yaml", "--nodes", addresses.join()];
    const { stdout, stderr, exitCode } = await talosmith("adopt", "alone", ...nodes, "--dry-run");
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain("discovery: false");
    expect(stdout).toBe(
      readFileSync(at("environments/taken.yaml"), "utf8")
        .replace("taken.patch", "alone.patch")
        .replace(/(\n *)allowScheduling/, "$1discovery: false$1allowScheduling"),
    );
  });

  test("refuses secrets that differ between machines by their places, and leaves the machines alone", async () => {
    const secret = `apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: vpn\nenvironment: [KEY=${password}]`;
    const patches = { ...patchesOf(talos), worker: [secret] };
    await lab.apply(await lab.desired(["cp-1", "w-1", "w-2"], { talos, kubernetesVersion: kubernetes, patches }));
    const { stderr, exitCode } = await talosmith("adopt", "other", "--talosctl", "theirs");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("are not in the secrets bundle, and differ between machines:\n");
    expect(stderr).toContain("ExtensionServiceConfig/vpn environment: set on w-1, w-2; not set on cp-1\n");
    expect(stderr).not.toContain("tailscale");
    expect(stderr).toContain("leave the machines' configs as they are");
    expect(stderr).not.toContain(password);
    expect(existsSync(at("environments/other.yaml"))).toBe(false);
  });

  test("refuses what is there already, and what tells too little", async () => {
    expect((await talosmith("adopt", "taken", "--talosctl", "theirs")).stderr).toContain(
      "environments/taken.yaml is there already",
    );
    expect((await talosmith("adopt", "other")).stderr).toContain("nothing says which cluster");
    expect((await talosmith("adopt", "other", "--talosctl", "environments", "--nodes", "127.0.0.1")).stderr).toContain(
      "no secrets bundle",
    );
  });
});

/** Clusters that talosctl has upgraded: their configs, installer and all, are what they were before. */
describe.each([
  { talos: "v1.14.1", contract: "v1.13", found: "v1.13", installed: "v1.13.9", next: "v1.14.2", removed: [] },
  {
    ...{ talos: "v1.13.9", contract: "v1.10", found: "v1.11", installed: "v1.10.9", next: "v1.14.1" },
    // As in configs that are older than every contract.
    removed: ["machine: { features: { hostDNS: { $patch: delete } } }"],
  },
])(
  "adopting a cluster of $talos with configs of contract $contract",
  ({ talos, contract, found, installed, next, removed }) => {
    const root = mkdtempSync(join(tmpdir(), "talosmith-adopt-"));
    const at = (path: string) => join(root, path);
    const machines = ["cp-1", "w-1"];
    const installImage = `ghcr.io/siderolabs/installer:${installed}`;
    const ofAll = [
      ...removed,
      "machine: { kubelet: { extraArgs: { v: '2' } }, sysctls: { net.core.somaxconn: '65535' } }",
      `machine: { registries: { config: { registry.example.com: { auth: { username: pull, password: ${password} } } } } }`,
    ];
    const patches = { all: ofAll, worker: ["machine: { nodeLabels: { tier: web } }"] };
    let lab: SimulatedLab;
    let desired: DesiredCluster;

    async function talosmith(...args: string[]) {
      const env = { PATH: programFolder({ terraform: "/bin/false" }) };
      const context = testContext({ cwd: root, env, clock: systemClock });
      const commands = [registerAdopt, registerPlan, registerUpgrade];
      await runProgram(createProgram(context, commands), args, context);
      return context.written;
    }
    const configsNow = async () => {
      const { machines } = await lab.observe(desired);
      return [...machines.values()].map(({ state }) => (state.kind === "configured" ? state : undefined));
    };

    beforeAll(async () => {
      mkdirSync(at("environments"));
      writeFileSync(at("cdktf.json"), "{}");
      const secrets = await newSecrets();
      writeFileSync(at("theirs.yaml"), encodeSecrets(secrets));
      lab = await simulatedLab("theirs", secrets);
      for (const name of machines) await lab.create(name, talos);
      await lab.apply(await lab.desired(machines, { talos, contract, patches }));
      desired = await lab.desired(machines, { talos, contract, patches, installImage });
      await lab.apply(desired);
    });

    afterAll(async () => {
      await lab.end();
      rmSync(root, { recursive: true, force: true });
    });

    test("keeps the contract and takes nothing away, and says which installer the configs name", async () => {
      const nodes = ["--secrets", "theirs.yaml", "--nodes", desired.machines[0]?.address ?? ""];
      const { exitCode, stderr } = await talosmith("adopt", "taken", ...nodes);
      expect(exitCode, stderr).toBe(0);
      const text = readFileSync(at("environments/taken.yaml"), "utf8");
      expect(text).toContain(`  configContract: ${found}\n`);
      expect(text).toContain(`  installImage: ghcr.io/siderolabs/installer:${installed}\n`);
      expect(text.match(/\$patch/g) ?? []).toHaveLength(removed.length);
      expect(text).not.toMatch(/LS0tLS1|hunter2/);
      expect(stderr).toContain(`installer:${installed}, but the machines run Talos ${talos}`);
      expect((await talosmith("plan", "taken")).stdout).toBe("Nothing to change.\n");
    });

    test(`is upgraded to ${next} then: nothing changes but version and installer`, async () => {
      const before = await configsNow();
      const { exitCode, stderr } = await talosmith("upgrade", "talos", "taken", "--to", next, "--yes");
      expect(exitCode, stderr).toBe(0);
      const text = readFileSync(at("environments/taken.yaml"), "utf8");
      expect(text).toContain(`  talosVersion: ${next}\n`);
      expect(text).toContain(`  configContract: ${found}\n`);
      expect(stderr).toMatch(new RegExp(`cluster\\.installImage .*:${installed} → .*:${next}\n`));
      const after = await configsNow();
      expect(after.map((state) => state?.talosVersion)).toEqual([next, next]);
      const places = after.map((state, index) => {
        const [old, now] = [before[index]?.config, state?.config];
        return old && now && configChange(old, now)?.places.map(({ title }) => title);
      });
      expect(places).toEqual([["machine.install.image"], ["machine.install.image"]]);
      expect((await talosmith("plan", "taken")).stdout).toBe("Nothing to change.\n");
    });
  },
);
