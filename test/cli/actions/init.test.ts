// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { answersFrom, askUntilRight, init } from "../../../cli/actions/init.ts";
import type { CommandContext } from "../../../cli/context.ts";
import { firstEnvironment, loadEnvironment, machinesOf, parseEnvironment } from "../../../model/index.ts";
import { systemClock, systemEntropy } from "../../../talos/clock.ts";
import { openConsoleProject } from "../../../web/server/project.ts";

let folder: string;
let written: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "talosmith-init-"));
  written = "";
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function context(): CommandContext {
  const write = (text: string) => {
    written += text;
  };
  const output = { write, isTerminal: false };
  return {
    stdout: output,
    stderr: output,
    clock: systemClock,
    entropy: systemEntropy,
    cwd: folder,
    name: "npx talosmith",
    env: {},
    signal: new AbortController().signal,
    exit: () => undefined,
  };
}

describe("the name base", () => {
  const words = "base.yaml is merged under every environment";

  it("is refused by init and by the web console, and nothing is written", async () => {
    const answers = { kind: "simulated", controlPlanes: "1", workers: "0" };
    await expect(init("base", answers, context())).rejects.toThrow(words);
    const project = openConsoleProject(folder, context());
    await expect(project.createSimulated({ name: "base", controlPlanes: 1, workers: 0 })).rejects.toThrow(words);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("talosmith init", () => {
  it("makes a project with a first environment from flags alone", async () => {
    await init("lab", { kind: "libvirt", controlPlanes: "3", workers: "1", vip: "10.0.0.100" }, context());
    const environment = loadEnvironment(folder, "lab");
    expect(machinesOf(environment).map((machine) => machine.name)).toEqual([
      "lab-cp-1",
      "lab-cp-2",
      "lab-cp-3",
      "lab-w-1",
    ]);
    expect(environment.infrastructure).toMatchObject({ kind: "libvirt", network: { vip: "10.0.0.100" } });
    expect(readFileSync(join(folder, "environments/lab.yaml"), "utf8")).toMatch(
      /# .*with the CA keys, to whatever\n(.*\n)*.*machineConfig: user-data(.*\n)* {2}trustOnFirstUse: true\n/,
    );
    expect(existsSync(join(folder, "cdktf.json"))).toBe(true);
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toContain("/secrets/*\n!/secrets/*.age\n");
    expect(written).toContain(
      "environments/lab.yaml\nWritten as well: cdktf.json, main.ts, .gitignore, package.json.\nNext: npm install, then npx talosmith plan lab",
    );
  });

  it("makes a folder a project for npm and for the CDK's commands, ready to be committed", async () => {
    await init("local", { kind: "simulated" }, context());
    const read = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8"));
    expect(readdirSync(folder).sort()).toEqual([".gitignore", "cdktf.json", "environments", "main.ts", "package.json"]);
    const { version, dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
    expect(read("package.json")).toMatchObject({
      name: expect.stringMatching(/^talosmith-init-[a-z0-9]+$/),
      private: true,
      type: "module",
      scripts: { deploy: "talosmith deploy" },
      dependencies: { cdktn: dependencies.cdktn, constructs: dependencies.constructs, talosmith: `^${version}` },
    });
    expect(read("cdktf.json")).toMatchObject({
      app: "node --import tsx main.ts",
      projectId: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    });
    const before = readFileSync(join(folder, "package.json"), "utf8");
    await init("lab", { kind: "libvirt" }, context());
    expect(readFileSync(join(folder, "package.json"), "utf8")).toBe(before);
    expect(written).toContain("Next: npx talosmith plan lab");
  });

  it("adds to a package.json only what it lacks", async () => {
    const given = { name: "mine", scripts: { deploy: "echo" }, dependencies: { talosmith: "file:../x.tgz" } };
    writeFileSync(join(folder, "package.json"), JSON.stringify(given));
    await init("local", { kind: "simulated" }, context());
    expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).toMatchObject({
      ...given,
      scripts: { deploy: "echo", plan: "talosmith plan" },
      dependencies: { talosmith: "file:../x.tgz", constructs: expect.any(String) },
    });
  });

  it("adds to a .gitignore that knows nothing of secrets what must never be committed, once", async () => {
    const file = join(folder, ".gitignore");
    writeFileSync(file, "node_modules\n*.log");
    await init("one", { kind: "simulated" }, context());
    const after = readFileSync(file, "utf8");
    expect(after).toMatch(/^node_modules\n\*\.log\n\n# /);
    const secret = ["/secrets/*", "/state/", "/generated/", "/secrets.yaml", "/controlplane.yaml", "/talosconfig"];
    expect(after.split("\n")).toEqual(expect.arrayContaining(secret));
    expect(after.match(/node_modules/g)).toHaveLength(1);
    // Whoever takes a line out again meant it.
    writeFileSync(file, after.replace("/backups/\n", ""));
    await init("two", { kind: "simulated" }, context());
    expect(readFileSync(file, "utf8")).toBe(after.replace("/backups/\n", ""));
  });

  const everyKind = [
    { kind: "simulated" },
    { kind: "libvirt", vip: "10.0.0.100" },
    { kind: "aws", adminCidrs: "198.51.100.7/32" },
    { kind: "metal", controlPlaneAddresses: "10.0.0.11", workerAddresses: "10.0.0.21" },
    { kind: "container" },
  ];
  const textOf = (name: string) => readFileSync(join(folder, `environments/${name}.yaml`), "utf8");

  it.each(everyKind)("pins versions in a file of the kind $kind, and its comments are right, too", async (options) => {
    await init("lab", options, context());
    expect(textOf("lab")).toMatch(
      /^cluster:\n {2}talosVersion: v1\.13\.9\n {2}kubernetesVersion: 1\.36\.3\n {2}configContract: v1\.13\n/m,
    );
    expect(loadEnvironment(folder, "lab").cluster).toMatchObject({
      talosVersion: "v1.13.9",
      configContract: "v1.13",
      patches: { all: [] },
    });
    const uncommented = textOf("lab").replace(
      /^( *)# ( *(?:endpoint|patches|all|- machine|- name|labels|taints|workers)\b)/gm,
      "$1$2",
    );
    const { cluster, workers } = parseEnvironment("lab", (file) =>
      file === "environments/lab.yaml" ? uncommented : undefined,
    );
    expect(cluster).toMatchObject({ endpoint: "https://k8s.example.com:6443", patches: { all: [expect.any(String)] } });
    expect(workers).toMatchObject([{ labels: { tier: "web" }, taints: { dedicated: "web:NoSchedule" } }]);
  });

  it.each([
    [{ talosVersion: "1.14" }, "v1.14.1", "1.37.0"],
    [{ talosVersion: "latest", kubernetesVersion: "1.35" }, "v1.14.1", "1.35.4"],
    [{ kubernetesVersion: "latest" }, "v1.13.9", "1.36.3"],
    [{ talosVersion: "v1.12.3" }, "v1.12.3", "1.35.4"],
  ])("writes for %j the exact versions %s and %s", async (options, talosVersion, kubernetesVersion) => {
    await init("lab", { kind: "simulated", ...options }, context());
    expect(textOf("lab")).toContain(`  talosVersion: ${talosVersion}\n  kubernetesVersion: ${kubernetesVersion}\n`);
    expect(loadEnvironment(folder, "lab").cluster).toMatchObject({ talosVersion, kubernetesVersion });
  });

  it.each([
    ["a Talos that has no newest release known", { talosVersion: "1.15" }, "no release of Talos 1.15 is known"],
    ["a Kubernetes that the Talos does not run", { talosVersion: "1.12", kubernetesVersion: "1.37.0" }, "1.37.0"],
  ])("refuses %s and writes nothing", async (_, options, message) => {
    await expect(init("lab", { kind: "simulated", ...options }, context())).rejects.toThrow(message);
    expect(existsSync(join(folder, "environments"))).toBe(false);
  });

  it("leaves versions to base.yaml where it has them, unless they are flags", async () => {
    mkdirSync(join(folder, "environments"));
    writeFileSync(join(folder, "environments/base.yaml"), "cluster: { talosVersion: v1.12.3 }\n");
    await init("one", { kind: "simulated" }, context());
    expect(textOf("one")).not.toContain("talosVersion");
    expect(loadEnvironment(folder, "one").cluster).toMatchObject({
      talosVersion: "v1.12.3",
      kubernetesVersion: "1.35.4",
    });
    expect(textOf("one")).toContain("  kubernetesVersion: 1.35.4\n  configContract: v1.12\n");
    await init("two", { kind: "simulated", talosVersion: "1.13" }, context());
    expect(loadEnvironment(folder, "two").cluster).toMatchObject({ talosVersion: "v1.13.9" });
    const all =
      "cluster: { talosVersion: v1.12.3, kubernetesVersion: 1.35.0, configContract: v1.12, domain: a.test }\n";
    const text = firstEnvironment({ kind: "simulated", controlPlanes: 1, workers: 1 }, { base: all });
    expect(text).not.toMatch(/^cluster:/m);
    const other = { kind: "simulated", controlPlanes: 1, workers: 1, talosVersion: "v1.14.1" } as const;
    expect(firstEnvironment(other, { base: all })).toContain(
      "  talosVersion: v1.14.1\n  kubernetesVersion: 1.37.0\n  configContract: v1.14\n",
    );
  });

  it("names the schema where it is: in the package, or in a checkout", async () => {
    await init("one", { kind: "simulated" }, context());
    mkdirSync(join(folder, "schemas"));
    writeFileSync(join(folder, "schemas/environment.schema.json"), "{}");
    await init("two", { kind: "simulated" }, context());
    const firstLine = (name: string) => readFileSync(join(folder, `environments/${name}.yaml`), "utf8").split("\n")[0];
    expect(firstLine("one")).toMatch(/=\.\.\/node_modules\/talosmith\/schemas\/environment\.schema\.json$/);
    expect(firstLine("two")).toMatch(/=\.\.\/schemas\/environment\.schema\.json$/);
  });

  it("never replaces a file", async () => {
    await init("lab", { kind: "simulated" }, context());
    const before = readFileSync(join(folder, "environments/lab.yaml"), "utf8");
    await expect(init("lab", { kind: "aws", adminCidrs: "198.51.100.7/32" }, context())).rejects.toThrow(
      "environments/lab.yaml is there already",
    );
    expect(readFileSync(join(folder, "environments/lab.yaml"), "utf8")).toBe(before);
  });

  it.each([
    ["an unknown kind", { kind: "azure" }, /found "azure", expected simulated or libvirt or aws or metal or container/],
    ["a number that is none", { kind: "simulated", workers: "many" }, /found "many" for the number of workers/],
    ["nobody who may administer", { kind: "aws" }, /networks that may administer the cluster.*found nothing/],
    ["the whole world as administrator", { kind: "aws", adminCidrs: "0.0.0.0/0" }, /\/8 or smaller/],
  ])("refuses %s and writes nothing", async (_, options, message) => {
    await expect(init("lab", options, context())).rejects.toThrow(message);
    expect(existsSync(join(folder, "environments"))).toBe(false);
  });

  it("refuses a name that cannot be one", async () => {
    await expect(init("../lab", { kind: "simulated" }, context())).rejects.toThrow(/environment name "\.\.\/lab"/);
  });

  it("writes machines by address for metal, without asking for numbers", async () => {
    const answers = await answersFrom(
      { kind: "metal", controlPlaneAddresses: "10.0.0.1, 10.0.0.2" },
      async (_, usual) => usual,
    );
    const text = firstEnvironment(answers);
    const environment = parseEnvironment("lab", (file) => (file === "environments/lab.yaml" ? text : undefined));
    expect(machinesOf(environment).map(({ name, role }) => [name, role])).toEqual([
      ["cp-1", "controlplane"],
      ["cp-2", "controlplane"],
    ]);
  });

  it("asks only what no flag has answered", async () => {
    const asked: string[] = [];
    const answers = await answersFrom({ kind: "aws", workers: "0", zone: "example.com" }, async (question, usual) => {
      asked.push(question);
      return usual ?? "198.51.100.7/32, 203.0.113.0/24";
    });
    expect(asked).toEqual([
      "Number of control planes",
      "AWS region",
      "Networks that may administer the cluster, with commas",
    ]);
    expect(answers).toEqual({
      kind: "aws",
      controlPlanes: 1,
      workers: 0,
      region: "eu-central-1",
      adminCidrs: ["198.51.100.7/32", "203.0.113.0/24"],
      zone: "example.com",
    });
    const text = firstEnvironment(answers);
    const { warnings } = parseEnvironment("lab", (file) => (file === "environments/lab.yaml" ? text : undefined));
    expect(warnings.map(({ path }) => path)).toEqual(["backend"]);
  });

  /** A person who gives these answers, one after another, and what they are told in between. */
  async function talk(answers: readonly string[]): Promise<{ told: readonly string[]; asked: readonly string[] }> {
    const rest = [...answers];
    const told: string[] = [];
    const asked: string[] = [];
    await answersFrom({}, async (question, usual, check) => {
      const next = async () => {
        asked.push(question);
        return rest.shift();
      };
      return (
        (await askUntilRight(
          next,
          (answer) => check(answer || usual),
          (problem) => told.push(problem),
        )) || usual
      );
    });
    return { told, asked };
  }

  it.each([
    [
      "kind",
      ["azure", "simulated", "3", "2"],
      ['found "azure", expected simulated or libvirt or aws or metal or container'],
    ],
    ["number", ["", "many", "3", "2"], ['found "many" for the number of control planes, expected a number']],
    ["number that no cluster has", ["", "0", "1", "0"], [/^found 0, expected /]],
    ["network", ["libvirt", "1", "0", "", "10.0.0.0/99", "10.0.0.0/24", ""], [/^found "10\.0\.0\.0\/99", expected /]],
    ["address that is outside", ["libvirt", "1", "0", "", "", "10.9.9.9", "10.0.0.100"], [/10\.9\.9\.9/]],
    ["nothing", ["aws", "1", "0", "", "", "0.0.0.0/0", "198.51.100.7/32", ""], [/found nothing$/, /\/8 or smaller/]],
    ["address of a machine", ["metal", "10.0.0.300", "10.0.0.3", ""], [/10\.0\.0\.300/]],
  ])("asks a person again after a wrong %s, and says why", async (_, answers, problems) => {
    const { told, asked } = await talk(answers);
    expect(told).toEqual(
      problems.map((problem) => (typeof problem === "string" ? problem : expect.stringMatching(problem))),
    );
    expect(asked).toHaveLength(answers.length);
  });

  it("ends when a person ends the input", async () => {
    await expect(talk(["azure"])).rejects.toThrow("nothing was written: the questions were not answered");
  });
});
