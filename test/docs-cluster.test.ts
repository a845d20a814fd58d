// SPDX-License-Identifier: Apache-2.0
// Pages that take a cluster as given, typed line by line against one on the simulator.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProgram, runProgram } from "../cli/program.ts";
import { registrations } from "../cli/registrations.ts";
import { systemClock } from "../talos/clock.ts";
import { testContext } from "./support/command-context.ts";
import { shellWords } from "./support/command-line.ts";
import { everything } from "./support/everything.ts";
import { commandLines } from "./support/markdown.ts";

interface Page {
  readonly name: string;
  /** The cluster that the page speaks of. */
  readonly cluster: string;
  /** What it begins with where the page upgrades it. */
  readonly versions?: string;
  /** Beginnings of lines that are for another place, and why. */
  readonly elsewhere: Readonly<Record<string, string>>;
  /** Lines of ours before a line, where a reader would come from trouble. */
  readonly before?: Readonly<Record<string, readonly string[]>>;
}

const noHypervisor = "makes virtual machines; the stack is planned in test/constructs";
const terraformOwns = "a cluster of Terraform's; test/acceptance deploys some";
const otherProgram = "a program of others; its flags are checked in docs-snippets.test.ts";

const pages: readonly Page[] = [
  {
    name: "docs/quick-reference.md",
    cluster: "lab",
    versions: "talosVersion: v1.13.8, kubernetesVersion: 1.35.4",
    elsewhere: {
      "npx talosmith init lab --kind libvirt": noHypervisor,
      "npx talosmith deploy lab": noHypervisor,
      kubectl: otherProgram,
    },
    before: { "npx talosmith restore lab": ["reset -n 10.0.0.70 --graceful=false --reboot"] },
  },
  { name: "docs/troubleshooting.md", cluster: "lab", elsewhere: {} },
  {
    name: "docs/operations.md",
    cluster: "lab",
    elsewhere: { "npx talosmith completion": "real shells take the scripts in completion.test.ts" },
  },
  {
    name: "docs/secrets.md",
    cluster: "lab",
    elsewhere: { "npx talosmith gen secrets": "the cluster has its secrets; offline-commands.test.ts makes others" },
  },
  {
    name: "docs/backups.md",
    cluster: "local",
    elsewhere: {},
    before: { "npx talosmith restore local": ["reset -n 10.0.0.70 --graceful=false --reboot"] },
  },
  {
    name: "docs/scale.md",
    cluster: "lab",
    elsewhere: { terraform: otherProgram },
  },
  { name: "docs/kubernetes-upgrade.md", cluster: "lab", versions: "kubernetesVersion: 1.35.4", elsewhere: {} },
  {
    name: "docs/upgrade.md",
    cluster: "lab",
    versions: "talosVersion: v1.12.11, kubernetesVersion: 1.35.4",
    elsewhere: {
      "npx talosmith upgrade talos production": terraformOwns,
      "npx talosmith plan production": terraformOwns,
      "npx talosmith deploy production": terraformOwns,
    },
  },
  { name: "docs/how-talos-works.md", cluster: "lab", elsewhere: {} },
  { name: "docs/ui.md", cluster: "lab", elsewhere: {} },
  { name: "docs/operate.md", cluster: "lab", elsewhere: { "npx talosmith operate lab production": terraformOwns } },
  {
    name: "docs/break-glass.md",
    cluster: "lab",
    elsewhere: {
      age: otherProgram,
      chmod: otherProgram,
      talosctl: otherProgram,
      "terraform force-unlock": otherProgram,
      "npx talosmith gen secrets --from-controlplane-config": "offline-commands.test.ts",
      "npx talosmith restore lab --from lab.snapshot":
        "takes talosctl's snapshot; day-two-commands.test.ts restores one",
    },
    before: {
      "npx talosmith restore lab --from latest": ["backup create lab", "reset -n 10.0.0.70 --graceful=false --reboot"],
    },
  },
  {
    name: "docs/upgrading-talosmith.md",
    cluster: "lab",
    elsewhere: {
      "npm install": "own-project.test.ts installs the packed package",
      "npx talosmith provider install": "provider-install.test.ts",
    },
  },
];

/** Pages about what is not on this computer, and the tests that do as they say with what stands for it. */
const pagesElsewhere: Readonly<Record<string, string>> = {
  "docs/addons.md": "helm: test/acceptance/examples.test.ts, test/talos/addon",
  "docs/aws.md": "AWS: test/constructs, test/golden/plans",
  "docs/ci.md": "test/acceptance/docs-plan.test.ts",
  "docs/concepts.md": "clusters of other tools: test/cli/adopt-command.test.ts",
  "docs/containers.md": "Docker: test/constructs/container.test.ts",
  "docs/deploying.md": "a project of one's own: test/acceptance/own-project.test.ts",
  "docs/getting-started.md": "test/docs-simulator.test.ts, test/acceptance/own-project.test.ts",
  "docs/libvirt.md": "a hypervisor: test/constructs/libvirt.test.ts",
  "docs/metal.md": "machines of one's own: test/acceptance/metal.test.ts",
  "docs/migrating.md": "clusters of other tools: test/cli/adopt-command.test.ts",
};

test("every page that tells what to type is typed here, or known to be tried elsewhere", () => {
  const telling = readdirSync("docs")
    .map((name) => join("docs", name))
    .filter(
      (name) =>
        name.endsWith(".md") &&
        commandLines(readFileSync(name, "utf8")).some((line) => /^(npx )?talosmith /.test(line)),
    );
  expect(telling.filter((name) => !(name in pagesElsewhere)).sort()).toEqual(pages.map(({ name }) => name).sort());
});

const quick = new Set(["docs/troubleshooting.md", "docs/secrets.md"]);

describe.each(pages.filter(({ name }) => everything || quick.has(name)))("$name, typed", (page) => {
  const { name, cluster, versions, elsewhere, before = {} } = page;
  const lines = commandLines(readFileSync(name, "utf8"));
  const root = mkdtempSync(join(tmpdir(), "talosmith-docs-cluster-"));
  const addresses = new Map<string, string>();

  async function talosmith(line: string) {
    const stop = new AbortController();
    const context = testContext({
      cwd: root,
      clock: systemClock,
      signal: stop.signal,
      env: { HOME: root, TALOSCONFIG: join(root, `generated/${cluster}/talosconfig`) },
    });
    const answer = /^(reset|restore)\b/.test(line) ? ["--yes"] : [];
    const words = [...shellWords(line).map((word) => addresses.get(word) ?? word), ...answer];
    // What stays until Ctrl-C has begun when it says where.
    const timer = /^(ui|operate)\b/.test(line) ? setTimeout(() => stop.abort(), 2_000) : undefined;
    await runProgram(createProgram(context, registrations), words, context);
    clearTimeout(timer);
    return { line, ...context.written };
  }

  /** The trouble that the page helps out of; a machine that was wiped takes a moment to come up empty. */
  async function comeFrom(prelude: readonly string[]) {
    for (const line of prelude) expect(await talosmith(line)).toMatchObject({ exitCode: 0 });
    const empty = async () => (await talosmith("get disks -n 10.0.0.70 --insecure")).exitCode;
    await expect.poll(empty, { timeout: 30_000 }).toBe(0);
  }

  beforeAll(async () => {
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    writeFileSync(
      join(root, `environments/${cluster}.yaml`),
      `cluster: { ${versions ?? ""} }\ninfrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: 1 }]\nbackup: { directory: backups }\n`,
    );
    const up = await talosmith(`up ${cluster}`);
    expect(up.exitCode, up.stderr).toBe(0);
    const { machines } = JSON.parse((await talosmith(`status ${cluster} --json`)).stdout);
    addresses.set("10.0.0.70", machines[0].address).set("10.0.0.80", machines[1].address);
    const config = JSON.parse((await talosmith("get mc v1alpha1 -n 10.0.0.70 -o json")).stdout).spec;
    for (const file of ["cp-1.yaml", "old.yaml"]) writeFileSync(join(root, file), config);
    writeFileSync(join(root, "new.yaml"), `${config}\n`);
    writeFileSync(join(root, "patch.yaml"), "machine: { sysctls: { a.b: '1' } }\n");
  });

  afterAll(async () => {
    await talosmith("sim down --all");
    rmSync(root, { recursive: true, force: true });
  });

  test("every line does what it says, or is known to be tried elsewhere", { timeout: 240_000 }, async () => {
    for (const beginning of Object.keys(elsewhere))
      expect(
        lines.some((line) => line.startsWith(beginning)),
        beginning,
      ).toBe(true);
    let typed = 0;
    for (const line of lines) {
      if (Object.keys(elsewhere).some((beginning) => line.startsWith(beginning))) continue;
      const [, ours] = /^npx talosmith (.+)$/.exec(line) ?? [];
      if (ours === undefined) throw new Error(`${line}: neither ours nor known to be tried elsewhere`);
      for (const [beginning, prelude] of Object.entries(before))
        if (line.startsWith(beginning)) await comeFrom(prelude);
      const { exitCode, ...told } = await talosmith(ours);
      // A plan says with 2 that there is something to do.
      expect(exitCode === 2 && /^plan\b/.test(ours) ? 0 : exitCode, JSON.stringify(told)).toBe(0);
      typed += 1;
    }
    expect(typed).toBeGreaterThan(0);
  });
});
