// SPDX-License-Identifier: Apache-2.0
// Day 2 with something going wrong in the middle, as Terraform's user sees it: the apply that fails says why, and once
// the cause is gone the same apply completes.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Fault } from "../../simulator/index.ts";
import { connect } from "../../talos/api/index.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { issueAdminCredentials } from "../../talos/config/index.ts";
import { secretsStore } from "../../talos/secrets/index.ts";
import { type ClusterOptions, ClusterWorkspace, clusterConfig } from "../support/cluster-workspace.ts";
import { everything } from "../support/everything.ts";
import { kubernetesCall } from "../support/kubernetes-call.ts";
import { findTools } from "../support/terraform.ts";
import { mayMount, mountTinyDisk, unmountDisk } from "../support/tiny-disk.ts";

const tools = findTools();
test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));
test.skipIf(!everything || !mayMount())("a disk can be filled", () => expect(mayMount()).toBe(true));

const apply = ["apply", "-auto-approve", "-no-color", "-input=false"];
/** What is wrong lasts until somebody mends it; this is how long Terraform waits for that. */
const impatient = 'timeouts = { update = "25s" }';
const missing = { code: "NotFound", message: "manifest unknown" };

interface Scenario {
  readonly name: string;
  readonly wish: ClusterOptions;
  /** More of the configuration, as HCL. */
  readonly beside?: string;
  readonly breakIt: (site: WatchedProject) => Promise<unknown>;
  /** What the apply says then. */
  readonly says: RegExp;
  readonly mend: (site: WatchedProject) => Promise<unknown>;
  /** The configuration that completes, where it is another one. */
  readonly mended?: { readonly wish: ClusterOptions; readonly beside?: string };
}

/** What a scenario reaches of a running cluster. */
class WatchedProject {
  readonly workspace: ClusterWorkspace;
  /** Of every command from now on. */
  readonly environment: Record<string, string>;

  constructor(workspace: ClusterWorkspace, environment: Record<string, string>) {
    this.workspace = workspace;
    this.environment = environment;
  }

  async faults(name: string, ...faults: Fault[]): Promise<void> {
    await this.workspace.simulator().setFaults((await this.machine(name)).id, faults);
  }

  async power(name: string, on: boolean): Promise<void> {
    await this.workspace.simulator().setPower((await this.machine(name)).id, on);
  }

  async heal(name: string): Promise<void> {
    await this.faults(name);
    await this.power(name, false);
    await this.power(name, true);
  }

  async machine(name: string) {
    const found = (await this.workspace.simulator().listMachines()).find((machine) => machine.name === name);
    if (found === undefined) throw new Error(`no machine ${name}`);
    return found;
  }

  kubernetes(method: string, path: string, body?: object): Promise<string> {
    return kubernetesCall(readFileSync(join(this.workspace.directory, "files/kubeconfig"), "utf8"), method, path, body);
  }

  /** Names of etcd's members, and the identity of the first: another one would mean that etcd was started anew. */
  async etcd(): Promise<{ readonly members: readonly string[]; readonly first: unknown }> {
    const secrets = await secretsStore({ kind: "file", path: join(this.workspace.directory, "secrets.yaml") }).read();
    const pair = issueAdminCredentials(secrets, { clock: systemClock, entropy: systemEntropy, ttl: 3_600_000 });
    const credentials = { ca: secrets.certs.os.certificate, ...pair };
    const client = connect((await this.machine("cp-1")).address, { kind: "mtls", credentials });
    try {
      const members = await client.etcdMemberList({ deadline: 10_000 });
      const { memberId } = await client.etcdStatus({ deadline: 10_000 });
      return { members: members.map(({ hostname }) => hostname).sort(), first: memberId };
    } finally {
      client.close();
    }
  }
}

const controlPlanes = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`cp-${index + 1}`, "controlplane"] as const));
const version = { talosVersion: "v1.13.9", kubernetesVersion: "1.35.4" };
const small: ClusterOptions = { ...version, machines: controlPlanes(1), more: impatient, files: true };
const pair: ClusterOptions = { ...small, machines: { ...controlPlanes(1), "w-1": "worker" } };
const upgraded: ClusterOptions = { ...pair, talosVersion: "v1.13.10" };
const modern: ClusterOptions = { ...upgraded, kubernetesVersion: "1.36.3" };
const withCount = (count: number): ClusterOptions => ({
  ...modern,
  machines: { ...controlPlanes(count), "w-1": "worker" },
});
const schematics = {
  guestAgent: "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515",
  plain: "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d883b4ba",
};
const imageOf = (schematic: string) => `install_image = "factory.talos.dev/metal-installer/${schematic}:v1.13.10"`;
const endpoints = 'endpoints = [talosmith_simulated_machine.this["cp-1"].address]';
const snapshotIn = (place: string) =>
  `resource "talosmith_etcd_snapshot" "this" {\n  cluster_name = talosmith_cluster.this.name\n  ${endpoints}\n  ${place}\n}\n`;
const release = `resource "talosmith_addon" "this" {
  name = "app"
  namespace = "apps"
  ${endpoints}
  chart = "app"
  repository = "https://charts.example.com"
  depends_on = [talosmith_cluster.this]
}
`;

const imageMissing: Scenario = {
  name: "a Talos upgrade whose image is not in the registry",
  wish: { ...small, talosVersion: "v1.13.10" },
  breakIt: (site) =>
    site.faults(
      "cp-1",
      { kind: "fail", method: "Pull", ...missing },
      { kind: "fail", method: "ImagePull", ...missing },
    ),
  says: /cp-1.*manifest unknown/,
  mend: (site) => site.faults("cp-1"),
};

const deployments = "/apis/apps/v1/namespaces/default/deployments";
const budget = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const labels = { app: "stubborn" };
const refusal = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";

const scenarios: readonly Scenario[] = [
  { ...imageMissing, wish: upgraded },
  {
    name: "a change after which a worker never comes back",
    wish: { ...upgraded, more: `${impatient}\n  ${imageOf(schematics.guestAgent)}` },
    breakIt: (site) => site.faults("w-1", { kind: "never-back" }),
    says: /w-1/,
    mend: (site) => site.heal("w-1"),
  },
  {
    name: "a drain that a disruption budget blocks",
    wish: {
      ...upgraded,
      more: `${impatient}\n  ${imageOf(schematics.plain)}\n  rollout = { drain_timeout = "3s", stuck_pods = "fail" }`,
    },
    breakIt: async (site) => {
      const containers = [{ name: "web", image: "example.com/web:v1" }];
      const template = { metadata: { labels }, spec: { containers } };
      const deployed = { replicas: 1, selector: { matchLabels: labels }, template };
      const metadata = { name: "stubborn" };
      await site.kubernetes("POST", deployments, {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata,
        spec: deployed,
      });
      const ready = async () =>
        JSON.parse(await site.kubernetes("GET", `${deployments}/stubborn`)).status?.readyReplicas;
      await expect.poll(ready, { timeout: 30_000 }).toBe(1);
      const spec = { minAvailable: 1, selector: { matchLabels: labels } };
      const kept = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "kept" }, spec };
      await site.kubernetes("POST", budget, kept);
    },
    says: /disruption budget keeps pod default\/stubborn-/,
    mend: (site) => site.kubernetes("DELETE", `${budget}/kept`),
  },
  {
    name: "a Kubernetes upgrade whose image is not in the registry",
    wish: modern,
    breakIt: (site) =>
      site.faults(
        "cp-1",
        { kind: "fail", method: "Pull", ...missing },
        { kind: "fail", method: "ImagePull", ...missing },
      ),
    says: /manifest unknown/,
    mend: (site) => site.faults("cp-1"),
  },
  {
    name: "two more control planes while the first one is away",
    wish: withCount(3),
    breakIt: (site) => site.power("cp-1", false),
    says: /cp-1/,
    mend: (site) => site.power("cp-1", true),
  },
  {
    name: "five control planes, one of which dies before it has joined",
    wish: withCount(5),
    breakIt: (site) => site.faults("cp-3", { kind: "reset" }),
    says: /cp-3/,
    mend: (site) => site.faults("cp-3"),
  },
  {
    name: "back to three while a second one has lost its power",
    wish: withCount(3),
    breakIt: (site) => Promise.all([site.power("cp-2", false), site.power("cp-3", false)]),
    says: /quorum|majority|cp-2|cp-3/,
    mend: (site) => Promise.all([site.power("cp-2", true), site.power("cp-3", true)]),
  },
  {
    name: "a backup that S3 refuses",
    wish: withCount(3),
    beside: snapshotIn('s3 = { bucket = "backups", endpoint = "http://127.0.0.1:PORT", region = "eu-central-1" }'),
    breakIt: async () => undefined,
    says: /AccessDenied|Access Denied|refuses/,
    mend: async () => undefined,
    mended: { wish: withCount(3), beside: snapshotIn('directory = "backups"') },
  },
  ...(everything && mayMount()
    ? [
        {
          name: "a backup to a disk that is full",
          wish: withCount(3),
          beside: snapshotIn('directory = "full"'),
          breakIt: async ({ workspace }: WatchedProject) => {
            mountTinyDisk(join(workspace.directory, "full"));
            writeFileSync(join(workspace.directory, "full/other"), Buffer.alloc(124 * 1024));
          },
          says: /no space left for a backup at .*Nothing half was left/,
          mend: async ({ workspace }: WatchedProject) => unmountDisk(join(workspace.directory, "full")),
        },
      ]
    : []),
  {
    name: "an add-on that does not become ready",
    wish: withCount(3),
    beside: snapshotIn('directory = "backups"') + release,
    breakIt: async ({ environment }) => Object.assign(environment, { STAND_IN_HELM_TROUBLE: "app" }),
    says: /release app failed, and has been rolled back/,
    mend: async ({ environment }) => Object.assign(environment, { STAND_IN_HELM_TROUBLE: "" }),
  },
];

describe.each(everything ? tools : tools.slice(0, 1))("day 2 under $name", (tool) => {
  let site: WatchedProject;
  const environment: Record<string, string> = {
    TALOSMITH_SIMULATOR_TIME_SCALE: "0.2",
    TALOSMITH_HELM: resolve("test/support/stand-in-helm.mjs"),
    AWS_ACCESS_KEY_ID: "nobody",
    AWS_SECRET_ACCESS_KEY: "nothing",
  };
  const refusing = createServer((_, response) =>
    response.writeHead(403, { "content-type": "application/xml" }).end(refusal),
  );
  let port = 0;
  const text = ({ wish, beside = "" }: Pick<Scenario, "wish" | "beside">) =>
    `${clusterConfig(wish)}\n${beside.replace("PORT", String(port))}`;

  beforeAll(async () => {
    await new Promise<void>((done) => refusing.listen(0, "127.0.0.1", done));
    port = (refusing.address() as AddressInfo).port;
    const workspace = await ClusterWorkspace.open(tool, text({ wish: everything ? pair : small }), { environment });
    environment.STAND_IN_HELM = join(workspace.directory, "releases.json");
    site = new WatchedProject(workspace, environment);
    await workspace.apply();
  });
  afterAll(async () => {
    refusing.close();
    await site.workspace.dispose();
  });

  test.each(everything ? scenarios : [imageMissing])(
    "$name fails by name, and completes once that is mended",
    async (scenario) => {
      const { workspace } = site;
      const { first } = await site.etcd();
      workspace.write("main.tf", text(scenario));
      await scenario.breakIt(site);
      const failed = await workspace.run(apply);
      // Before anything is judged: a test that fails must leave nothing broken behind.
      await scenario.mend(site);
      expect(failed.code, failed.text).not.toBe(0);
      expect(failed.text).toMatch(scenario.says);
      workspace.write("main.tf", text(scenario.mended ?? scenario));
      await workspace.apply();
      expect(await workspace.isSettled()).toBe(true);
      const { wish } = scenario.mended ?? scenario;
      const members = Object.keys(wish.machines).filter((name) => name.startsWith("cp-"));
      expect(await site.etcd()).toEqual({ members, first });
      for (const { name, talosVersion } of await workspace.simulator().listMachines())
        expect([name, talosVersion]).toEqual([name, wish.talosVersion ?? "v1.13.9"]);
    },
  );

  test.skipIf(!everything)("a control plane that has died for good is replaced by a new one of its name", async () => {
    const { workspace } = site;
    await site.power("cp-3", false);
    await workspace.apply('-replace=talosmith_simulated_machine.this["cp-3"]');
    expect(await workspace.isSettled()).toBe(true);
    expect((await site.etcd()).members).toEqual(["cp-1", "cp-2", "cp-3"]);
  });
});
