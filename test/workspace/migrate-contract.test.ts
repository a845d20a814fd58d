// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { armor, Encrypter, generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, describe, expect, test } from "vitest";
import { fileReader, loadEnvironment } from "../../model/index.ts";
import { Contract } from "../../talos/version/index.ts";
import { planMigration } from "../../workspace/migrate-contract.ts";
import { fileDiffs } from "../../workspace/migrate-diff.ts";
import { testContext } from "../support/command-context.ts";
import { secrets } from "../talos/config/golden-secrets.ts";

const folders: string[] = [];

/** A project with these files, by their paths from its root. */
function project(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "talosmith-migrate-"));
  folders.push(root);
  for (const [file, text] of Object.entries({ "cdktf.json": "{}", ...files })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function migrate(root: string, to = "v1.14", enabled: readonly string[] = [], name = "lab", env = {}) {
  const context = testContext({ cwd: root, env });
  const environment = loadEnvironment(root, name);
  const plan = await planMigration({ root, environment, context }, Contract.parse(to), enabled, async () => secrets);
  const told = {
    moved: plan.moved.map(({ file, line, path }) => `${file}:${line} ${path}`),
    left: plan.left.map(({ file, line, path, reason }) => `${file}:${line} ${path}: ${reason}`),
    defaults: plan.defaults.map(({ id, state }) => `${id} ${state}`),
  };
  return {
    plan,
    ...told,
    diffs: fileDiffs(fileReader(root), environment, plan.texts),
    text: (file: string) => plan.texts.get(file),
  };
}

const cluster = "talosVersion: v1.14.1, kubernetesVersion: 1.36.3, configContract: v1.13";
const lab = (patches: string, more = "") =>
  `cluster:\n  ${cluster.replaceAll(", ", "\n  ")}\n${patches}infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: 1 }]\n${more}`;
const file = "environments/lab.yaml";
const all = (patch: string) => lab(`  patches:\n    all:\n      - ${patch}\n`);
const allOff = ["secure-ephemeral off", "filesystem-trim off", "workload-isolation off", "anonymous-health off"];

describe("a move to a newer contract", () => {
  test("without patches changes the contract, and keeps new defaults off", async () => {
    const { plan, defaults, text } = await migrate(project({ [file]: lab("") }));
    expect(plan).toMatchObject({ moved: [], left: [], notes: [], obstacles: [], machines: 2 });
    expect(defaults).toEqual(allOff);
    expect([...plan.texts.keys()]).toEqual([file]);
    expect(text(file)).toContain("  configContract: v1.14\n  previousContract: v1.13\n");
    expect(plan.after.cluster).toMatchObject({ configContract: "v1.14", previousContract: "v1.13" });
    expect(plan.after.cluster.patches.all).toHaveLength(3);
    expect(plan.after.cluster.patches.controlPlane).toHaveLength(2);
  });

  test("switches on what is chosen", async () => {
    const chosen = ["workload-isolation", "secure-ephemeral", "filesystem-trim", "anonymous-health"];
    const { plan, defaults } = await migrate(project({ [file]: lab("") }), "v1.14", chosen);
    expect(defaults).toEqual(allOff.map((one) => one.replace(" off", " on")));
    expect(plan.after.cluster.patches).toEqual({ all: [], controlPlane: [], worker: [], machines: {} });
    expect(plan.obstacles).toEqual([]);
  });

  test("takes every patch of the environment along, each in its file", async () => {
    const root = project({
      "environments/base.yaml": "cluster: { patches: { worker: [{ machine: { nodeLabels: { tier: work } } }] } }\n",
      "environments/other.yaml": lab(""),
      [file]: lab(
        [
          "  patchFiles: [secrets/registry.yaml]",
          "  patches:",
          "    all:",
          '      - machine: { kubelet: { extraArgs: { v: "2" } } }',
          "        cluster: { apiServer: { env: { TOKEN: hunter2 } } }",
          "      - configRef: ../patches/time.yaml",
          "      # stays",
          "      - machine: { udev: { rules: [a] } }",
          "    machines:",
          "      lab-w-1: [{ machine: { nodeTaints: { gpu: 'yes:NoSchedule' } } }]",
          "",
        ].join("\n"),
      ).replace("[{ count: 1 }]", "[{ workerRef: ./pool.yaml }]"),
      "environments/pool.yaml": "count: 1\npatches:\n  - machine: { nodeAnnotations: { a: b } } # why\n",
      "patches/time.yaml": "# our clocks\nmachine:\n  time:\n    servers: [ntp.test] # inside\n",
      "secrets/registry.yaml":
        "machine: { registries: { config: { ghcr.io: { auth: { username: u, password: hunter3 } } } } }\n",
    });
    const { plan, moved, text, diffs } = await migrate(root);
    expect(plan.obstacles).toEqual([]);
    expect(moved).toEqual([
      "environments/lab.yaml:8 machine.kubelet.extraArgs",
      "environments/lab.yaml:9 cluster.apiServer.env",
      "patches/time.yaml:4 machine.time.servers",
      "environments/base.yaml:1 machine.nodeLabels",
      "environments/pool.yaml:3 machine.nodeAnnotations",
      "environments/lab.yaml:14 machine.nodeTaints",
      "secrets/registry.yaml:1 machine.registries.config",
    ]);
    expect([...plan.texts.keys()].sort()).toEqual([
      file,
      "environments/pool.yaml",
      "patches/time.yaml",
      "secrets/registry.yaml",
    ]);
    expect(text("patches/time.yaml")).toBe(
      "# our clocks\napiVersion: v1alpha1\nkind: TimeSyncConfig\nntp:\n  servers: [ ntp.test ] # inside\n",
    );
    expect(text("environments/pool.yaml")).toContain("kind: KubeNodeConfig\n    annotations: { a: b }");
    expect(text(file)).toContain("      # stays\n      - machine: { udev: { rules: [a] } }\n");
    // The other environment keeps what base.yaml says.
    expect(plan.notes).toEqual([expect.stringContaining("environments/lab.yaml has a list of its own now")]);
    expect(loadEnvironment(root, "other", plan.texts)).toEqual(loadEnvironment(root, "other"));
    const shown = diffs.map(({ diff }) => diff).join("");
    expect(shown).not.toMatch(/hunter/);
    expect(shown).toContain("(a patch file: its content is secret and not shown)");
    expect(shown).toContain("--- a/patches/time.yaml\n+++ b/patches/time.yaml\n@@");
  });

  test("goes over several contracts at once", async () => {
    const text = all("machine: { nodeLabels: { a: b } }").replace("v1.13", "v1.10");
    const { plan, defaults } = await migrate(project({ [file]: text }));
    expect(plan.obstacles).toEqual([]);
    expect(defaults).toEqual(["kernel-args-from-image always", ...allOff]);
  });

  test("takes environments along that join the cluster", async () => {
    const root = project({
      [file]: lab(""),
      "environments/edge.yaml":
        "cluster: { talosVersion: v1.14.1, patches: { all: [{ machine: { nodeLabels: { a: b } } }] } }\ncontrolPlaneRef: { environment: lab }\ninfrastructure: { kind: simulated }\nworkers: [{ count: 1 }]\n",
    });
    const { plan, moved } = await migrate(root);
    expect(plan).toMatchObject({ obstacles: [], machines: 3 });
    expect(moved).toEqual(["environments/edge.yaml:1 machine.nodeLabels"]);
    expect([...plan.texts.keys()]).toEqual(["environments/edge.yaml", file]);
    await expect(migrate(root, "v1.14", [], "edge")).rejects.toThrow("edge takes its config contract from lab");
  });

  test("leaves a volume alone that is mounted securely already", async () => {
    const text = lab(
      "  patches:\n    machines:\n      lab-w-1:\n        - { apiVersion: v1alpha1, kind: VolumeConfig, name: EPHEMERAL, provisioning: { maxSize: 50GiB } }\n",
    );
    const { plan } = await migrate(project({ [file]: text }));
    expect(plan.obstacles).toEqual([]);
    expect(plan.after.cluster.patches.machines["lab-w-1"]?.join()).not.toContain("secure");
    expect(plan.after.cluster.patches.machines["lab-cp-1"]?.join()).toContain("secure: false");
  });

  test.each(["v1.12", "v1.14"])("machines by address, with their disks and links, from v1.10 to %s", async (to) => {
    const text = [
      `cluster: { talosVersion: v1.14.1, kubernetesVersion: 1.36.3, configContract: v1.10, diskEncryption: { ephemeral: [{ nodeID: true }] } }`,
      "infrastructure:",
      "  kind: metal",
      "  trustOnFirstUse: true",
      "  diskSelector: { type: nvme, size: '>= 200GB' }",
      "  network: { cidr: 10.0.0.0/24, gateway: 10.0.0.1, nameservers: [10.0.0.1], vip: 10.0.0.9 }",
      "  machines:",
      "    cp-1: { address: 10.0.0.70, role: controlplane, link: eth0, patches: [{ machine: { nodeLabels: { a: b } } }] }",
      "    w-1: { address: 10.0.0.80, role: worker, mac: '0C:c4:7a:00:00:01', disk: /dev/sdb }",
      "",
    ].join("\n");
    const { plan, moved } = await migrate(project({ [file]: text }), to);
    expect(plan.obstacles).toEqual([]);
    expect(moved).toEqual(to === "v1.14" ? ["environments/lab.yaml:8 machine.nodeLabels"] : []);
    expect(plan.notes).toEqual([expect.stringContaining("DHCP only on links that they name")]);
  });

  test("a second time finds nothing to do", async () => {
    const root = project({ [file]: all("machine: { nodeLabels: { a: b } }") });
    const { plan } = await migrate(root);
    for (const [path, text] of plan.texts) writeFileSync(join(root, path), text);
    const again = await migrate(root);
    expect(again.plan).toMatchObject({ moved: [], left: [], defaults: [], obstacles: [], texts: new Map() });
  });
});

describe("what cannot be moved", () => {
  test.each([
    [
      "machine: { kubelet: { extraMounts: [{ destination: /a, source: /a, type: bind }] } }",
      "environments/lab.yaml:7 machine.kubelet.extraMounts: no document has it: use a UserVolumeConfig",
      "kubelet config is already set in v1alpha1 config (.machine.kubelet) (lab-cp-1, lab-w-1)",
    ],
    [
      "cluster: { apiServer: { extraArgs: { oidc-issuer-url: https://id.test } } }",
      "environments/lab.yaml:7 cluster.apiServer.extraArgs.oidc-issuer-url: say it in a KubeAuthenticationConfig",
      "kube-apiserver config is already set in v1alpha1 config (.cluster.apiServer) (lab-cp-1)",
    ],
  ])("is named and left, and the contract stays: %s", async (patch, place, obstacle) => {
    const { plan, left } = await migrate(project({ [file]: all(patch) }));
    expect(left).toEqual([expect.stringContaining(place)]);
    expect(plan.obstacles).toEqual([expect.stringContaining(obstacle)]);
  });

  test("may stay where the newer contract accepts it", async () => {
    const { plan, left } = await migrate(
      project({ [file]: all("machine: { network: { interfaces: [{ interface: eth1, dhcp: true }] } }") }),
    );
    expect(left).toEqual([
      expect.stringContaining("environments/lab.yaml:7 machine.network.interfaces: link documents"),
    ]);
    expect(plan.obstacles).toEqual([]);
  });

  test("a pool that another environment has, too", async () => {
    const pool = "count: 1\npatches: [{ machine: { nodeLabels: { a: b } } }]\n";
    const text = lab("").replace("[{ count: 1 }]", "[{ workerRef: ./pool.yaml }]");
    const root = project({ [file]: text, "environments/other.yaml": text, "environments/pool.yaml": pool });
    const { plan, left } = await migrate(root);
    expect(left).toEqual([
      expect.stringContaining(
        "environments/pool.yaml:2 machine.nodeLabels: environments/pool.yaml is used by other, too",
      ),
    ]);
    expect(plan.obstacles).not.toEqual([]);
  });

  test.each([
    [
      "a patch file for every machine",
      "cluster: { apiServer: { env: { A: b } } }\n",
      "only control planes may have it",
    ],
  ])("%s", async (_, text, reason) => {
    const root = project({ [file]: lab("  patchFiles: [secrets/a.yaml]\n"), "secrets/a.yaml": text });
    const { left, plan } = await migrate(root);
    expect(left).toEqual([expect.stringContaining(`secrets/a.yaml:1 cluster.apiServer.env: ${reason}`)]);
    expect(plan.texts.has("secrets/a.yaml")).toBe(false);
    expect(plan.obstacles).not.toEqual([]);
  });
});

test("an encrypted patch file is opened, named and left", async () => {
  const identity = await generateIdentity();
  const encrypter = new Encrypter();
  encrypter.addRecipient(await identityToRecipient(identity));
  const sealed = armor.encode(await encrypter.encrypt("machine:\n  env: { A: b }\n  sysctls: { a.b: hunter2 }\n"));
  const root = project({ [file]: lab("  patchFiles: [secrets/a.yaml.age]\n"), "secrets/a.yaml.age": sealed });
  const { plan, left } = await migrate(root, "v1.14", [], "lab", { SOPS_AGE_KEY: identity });
  expect(left).toEqual(["secrets/a.yaml.age:3 machine.sysctls: the file is encrypted: move it by hand"]);
  // It is accepted where it is, too.
  expect(plan.obstacles).toEqual([]);
  expect([...plan.texts.keys()]).toEqual([file]);
});

describe("refused from the start", () => {
  test.each([
    [
      "a newer contract than Talos reads",
      lab("").replace("v1.14.1", "v1.13.9"),
      "v1.14",
      "Upgrade Talos first: talosmith upgrade talos lab --to v1.14",
    ],
    ["the way back", lab(""), "v1.12", "restore the files from version control"],
  ])("%s", async (_, text, to, hint) => {
    await expect(migrate(project({ [file]: text }), to)).rejects.toMatchObject({ hint: expect.stringContaining(hint) });
  });
});
