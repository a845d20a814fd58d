// SPDX-License-Identifier: Apache-2.0
// The types of the packed package are enough to write an infrastructure of one's own: no sources, no types of Node.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, createCheckout } from "../support/checkout.ts";
import { everything } from "../support/everything.ts";
import { runCommand } from "../support/run-command.ts";
import { cleanEnvironment } from "../support/terraform.ts";

const env = cleanEnvironment();
const rack = `import { App } from "cdktf";
import { Construct } from "constructs";
import { synthesizeApp } from "talosmith";
import { type Addressable, type Infrastructure, Machine, type MachineRequest, type PoolRequest, TalosCluster, TalosStack, WorkerPool } from "talosmith/constructs";

interface RackSettings {
  readonly shelf?: number;
}

class RackMachine extends Machine {
  readonly bootMedium = "maintenance";
  readonly resource: Addressable | undefined = undefined;
  readonly address: string;

  constructor(scope: Construct, request: MachineRequest, shelf: number) {
    super(scope, request);
    this.address = \`10.0.\${shelf}.\${request.index}\`;
  }

  get identity(): string {
    return this.address;
  }
}

class Rack implements Infrastructure<RackSettings> {
  readonly platform = "metal";
  readonly certSans: readonly string[] = [];
  readonly trustOnFirstUse = true;

  createMachines(scope: Construct, { machines, settings, talosVersion }: PoolRequest<RackSettings>): readonly Machine[] {
    const release: string = talosVersion;
    if (!release.startsWith("v1.")) throw new Error(release);
    return machines.map((machine) => new RackMachine(scope, machine, settings.shelf ?? 0));
  }

  endpoint([first]: readonly Machine[]): string {
    return \`https://\${first?.address}:6443\`;
  }
}

const app = new App();
const stack = new TalosStack(app, "lab");
const cluster = new TalosCluster(stack, "cluster", { name: "lab", infrastructure: new Rack(), controlPlane: { count: 1, shelf: 1 } });
new WorkerPool(cluster, "general", { count: 2, shelf: 2 });
cluster.addAddon({ name: "app", chart: "./charts/app" });
cluster.addBackup({ directory: "backups" });
// @ts-expect-error: what only talosmith itself needs is not declared
cluster.machineConfig;
// @ts-expect-error: a shelf is a number
new WorkerPool(cluster, "wrong", { count: 1, shelf: "top" });
await synthesizeApp(app);
`;

// A build and a pack: a minute.
describe.runIf(everything)("the packed types", () => {
  let checkout: Checkout;
  const folder = mkdtempSync(join(tmpdir(), "talosmith-types-"));

  beforeAll(async () => {
    checkout = createCheckout();
    const packed = await runCommand("npm", ["pack", "--pack-destination", folder], { cwd: checkout.root, env });
    expect(packed.code, packed.stderr.slice(-3000)).toBe(0);
    const modules = join(folder, "node_modules");
    mkdirSync(modules);
    const [tarball = ""] = readdirSync(folder).filter((each) => each.endsWith(".tgz"));
    execFileSync("tar", ["-xzf", join(folder, tarball), "-C", modules]);
    renameSync(join(modules, "package"), join(modules, "talosmith"));
    for (const name of ["cdktf", "constructs", "zod"]) symlinkSync(resolve("node_modules", name), join(modules, name));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  }, 600_000);

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    checkout?.remove();
  });

  test("compile an infrastructure of one's own, and refuse what is wrong or internal", async () => {
    writeFileSync(join(folder, "rack.ts"), rack);
    const settings = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--module", "nodenext", "--types", ""];
    const tsc = resolve("node_modules/typescript/bin/tsc");
    const { stdout } = await runCommand("node", [tsc, ...settings, "--target", "es2023", "rack.ts"], {
      cwd: folder,
      env,
    });
    expect(stdout).toBe("");
  });
});
