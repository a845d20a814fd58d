// SPDX-License-Identifier: Apache-2.0
// What somebody has who installs the published package into an empty folder. Needs a registry for the CDK and tsx.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, createCheckout } from "../support/checkout.ts";
import { type CommandResult, runCommand } from "../support/run-command.ts";
import { cleanEnvironment } from "../support/terraform.ts";

const env = cleanEnvironment();
const quiet = ["--no-audit", "--no-fund", "--prefer-offline"];
const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const registry = await Promise.all(
  [`constructs@${dependencies.constructs}`, `tsx@${devDependencies.tsx}`].map((name) =>
    runCommand("npm", ["view", name, "version", "--fetch-retries=0", "--fetch-timeout=10000"], { cwd: tmpdir(), env }),
  ),
);
const offline = registry.some(({ code }) => code !== 0);

describe("a project of one's own", () => {
  let checkout: Checkout;
  let folder: string;
  let tarball: string;
  const run = (program: string, ...args: string[]) => runCommand(program, args, { cwd: folder, env });
  const talosmith = (...args: string[]) => run("npx", "--no-install", "talosmith", ...args);
  const ok = async (result: Promise<CommandResult>) => {
    const { code, stdout, stderr } = await result;
    expect(`${stdout}${stderr}`.slice(-3000) + code).toMatch(/0$/);
    return stdout;
  };

  beforeAll(async () => {
    if (offline) return;
    checkout = createCheckout();
    const work = mkdtempSync(join(tmpdir(), "talosmith-own-"));
    folder = join(work, "Clusters");
    mkdirSync(folder);
    await ok(runCommand("npm", ["pack", "--pack-destination", work], { cwd: checkout.root, env }));
    const [name = ""] = readdirSync(work).filter((each) => each.endsWith(".tgz"));
    tarball = join(work, name);
    // As the page for newcomers has it.
    const page = readFileSync("docs/getting-started.md", "utf8");
    expect(page).toContain(
      `npm pack --pack-destination ..\nmkdir ../clusters && cd ../clusters\nnpm install ../${name}\n`,
    );
    await ok(run("npm", "install", ...quiet, `../${name}`));
    // A build, a pack and an install: minutes, where many share the machine.
  });

  afterAll(async () => {
    if (offline) return;
    if (existsSync(join(folder, "generated/.simulator"))) await talosmith("destroy", "local");
    rmSync(join(folder, ".."), { recursive: true, force: true });
    checkout.remove();
  });

  test.skipIf(offline)("the package brings few others, none with an install script, and no sources", () => {
    const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
    const installed = Object.keys(packages).filter((path) => path !== "");
    expect(installed).toContain("node_modules/talosmith");
    expect(installed.length).toBeLessThanOrEqual(40);
    expect(installed.filter((path) => packages[path].hasInstallScript)).toEqual([]);
    expect(readdirSync(join(folder, "node_modules/talosmith")).sort()).toEqual([
      "LICENSE",
      "README.md",
      "bin",
      "dist",
      "package.json",
      "schemas",
    ]);
  });

  test.skipIf(offline)("it says whose code is in it, and all of that may be passed on", () => {
    const dist = join(folder, "node_modules/talosmith/dist");
    const bill = JSON.parse(readFileSync(join(dist, "sbom.cdx.json"), "utf8"));
    expect(bill.metadata.component.purl).toMatch(/^pkg:npm\/talosmith@/);
    const names: string[] = bill.components.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(["cdktn", "constructs", "zod", "yaml", "@grpc/grpc-js", "preact"]));
    expect(names).not.toContain("vitest");
    const licences = new Set(
      bill.components.flatMap(({ licenses }: { licenses: { license?: { id: string }; expression?: string }[] }) =>
        licenses.map(({ license, expression }) => license?.id ?? expression),
      ),
    );
    expect(
      [...licences]
        .sort()
        .filter((id) => !/^(MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|MPL-2\.0|BlueOak-1\.0\.0)$/.test(`${id}`)),
    ).toEqual(["(Apache-2.0 AND BSD-3-Clause)", "(BSD-3-Clause OR GPL-2.0)"]);
    const notices = readFileSync(join(dist, "third-party-notices.txt"), "utf8");
    for (const name of ["yaml", "node-forge", "@aws-sdk/client-s3"]) expect(notices).toContain(`\n${name} `);
  });

  test.skipIf(offline)("publint and are-the-types-wrong find nothing wrong with it", async () => {
    const bytes = readFileSync(tarball);
    const { messages } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true });
    expect(messages.map((message) => formatMessage(message, {}))).toEqual([]);
    const types = await checkPackage(createPackageFromTarballData(bytes));
    if (types.types === false) throw new Error("the package has no types");
    // The tool's own profile for packages that are ES modules only, as ours.
    const promised = types.problems.filter(
      (problem) => !("resolutionKind" in problem) || !["node10", "node16-cjs"].includes(problem.resolutionKind),
    );
    expect(promised).toEqual([]);
  });

  test.skipIf(offline)("`talosmith init` makes it, npm installs it, and synth writes its stack", async () => {
    await ok(talosmith("init", "local", "--control-planes", "1", "--workers", "0"));
    await ok(run("npm", "install", "--ignore-scripts", ...quiet));
    expect(await ok(talosmith("synth"))).toBe("cdktf.out/stacks/local\n");
    const before = readFileSync(join(folder, "cdktf.out/stacks/local/cdk.tf.json"), "utf8");
    rmSync(join(folder, "cdktf.out"), { recursive: true });
    await ok(run("node", "--import", "tsx", "main.ts"));
    expect(readFileSync(join(folder, "cdktf.out/stacks/local/cdk.tf.json"), "utf8")).toBe(before);
    expect(existsSync(join(folder, "cdktf.out/stacks/local/terraform.d/plugins"))).toBe(true);
  });

  test.skipIf(offline)("it deploys the simulated cluster", async () => {
    const { stdout, stderr } = await talosmith("deploy", "local", "--auto-approve");
    expect(stdout + stderr).toContain("local is up: 1 control plane");
  });

  test.skipIf(offline)("it finds nothing to change afterwards", async () => {
    expect((await talosmith("plan", "local")).code).toBe(0);
  });

  test.skipIf(offline)("it shows the page that it was built with", async () => {
    const page = spawn("npx", ["--no-install", "talosmith", "ui", "--port", "0"], { cwd: folder, env, detached: true });
    try {
      const printed = await new Promise<string>((resolve, reject) => {
        let text = "";
        const more = (chunk: Buffer) => {
          text += chunk;
          if (/http:\/\/\S+/.test(text)) resolve(text);
        };
        page.stdout.on("data", more);
        page.stderr.on("data", more);
        page.on("close", () => reject(new Error(text)));
      });
      const [url = ""] = /http:\/\/\S+/.exec(printed) ?? [];
      expect(await (await fetch(url)).text()).toContain("<!doctype html>");
      expect((await fetch(new URL("/main.js", url))).status).toBe(200);
    } finally {
      if (page.pid !== undefined) process.kill(-page.pid, "SIGTERM");
    }
  });

  test.skipIf(offline)("it destroys the cluster", async () => {
    expect((await talosmith("destroy", "local")).stderr).toContain("local is destroyed");
  });

  test.skipIf(offline)(
    "TypeScript knows what the constructs take, and an app of one's own gets the provider",
    async () => {
      writeFileSync(
        join(folder, "lab.ts"),
        `import { App } from "cdktn";
import { synthesizeApp } from "talosmith";
import { SimulatedInfrastructure, TalosCluster, TalosStack, WorkerPool } from "talosmith/constructs";

const app = new App();
const stack = new TalosStack(app, "lab");
const cluster = new TalosCluster(stack, "cluster", {
  name: "lab",
  infrastructure: new SimulatedInfrastructure(stack, "simulator"),
  controlPlane: { count: 1 },
});
new WorkerPool(cluster, "general", { count: 2 });
// @ts-expect-error: a count is a number
new WorkerPool(cluster, "wrong", { count: "many" });
await synthesizeApp(app);
`,
      );
      const tsc = resolve("node_modules/typescript/bin/tsc");
      const settings = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--types", "", "lab.ts"];
      expect((await run("node", tsc, ...settings)).stdout).toBe("");
      writeFileSync(
        join(folder, "lab.ts"),
        readFileSync(join(folder, "lab.ts"), "utf8").replace(/.*ts-expect-error.*\n.*\n/, ""),
      );
      await ok(run("node", "--import", "tsx", "lab.ts"));
      expect(readFileSync(join(folder, "cdktf.out/stacks/lab/.terraform.lock.hcl"), "utf8")).toContain(
        'provider "talosmith.internal/talosmith/talosmith"',
      );
    },
  );

  test.skipIf(offline)("a wrong value is one sentence with the construct's path", async () => {
    const text = readFileSync(join(folder, "lab.ts"), "utf8").replace(
      'name: "lab",',
      'name: "lab", podCidrs: ["10.0.0.0/99"],',
    );
    writeFileSync(join(folder, "wrong.ts"), text);
    const { code, stderr } = await run("node", "--import", "tsx", "wrong.ts");
    expect(code).toBe(1);
    expect(stderr).toContain(
      '\nConstructInputError: lab/cluster: podCidrs[0] is "10.0.0.0/99"; expected a network such as',
    );
    expect(stderr.length).toBeLessThan(600);
  });
});
