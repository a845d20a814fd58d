// SPDX-License-Identifier: Apache-2.0
// One cluster, one state, every way to deploy in turn: npm scripts, the tool in cdktf.out, the tool in terraform/<environment>.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, createCheckout } from "../support/checkout.ts";
import { everything } from "../support/everything.ts";
import { kubernetesGet } from "../support/kubernetes-get.ts";
import { type CommandResult, runCommand } from "../support/run-command.ts";
import { cleanEnvironment, findTools } from "../support/terraform.ts";

const tools = findTools();
test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));

const patched = "cluster:\n  patches:\n    all:\n      - machine: { sysctls: { vm.max_map_count: '262144' } }\n";

// Thirty commands: only under TALOSMITH_TEST_ALL.
describe.skipIf(!everything).each(tools)("the ways to deploy with $name", (tool) => {
  let checkout: Checkout;
  const run = (program: string, args: readonly string[], folder = ".") => {
    const env = cleanEnvironment({ TERRAFORM_BINARY_NAME: tool.path, HOME: join(checkout.root, "generated/home") });
    return runCommand(program, args, { cwd: join(checkout.root, folder), env });
  };
  const ok = async (result: Promise<CommandResult>) => {
    const { code, stdout, stderr } = await result;
    expect(`${stdout}${stderr}`.slice(-3000) + code).toMatch(/0$/);
    return stdout;
  };
  const npm = (...args: string[]) => run("npm", ["run", "-s", ...args]);
  const inStack = (...args: string[]) => run(tool.path, args, "cdktf.out/stacks/local");
  const inHcl = (...args: string[]) => run(tool.path, args, "terraform/local");
  const environment = (text: string) => writeFileSync(join(checkout.root, "environments/local.yaml"), text);
  const local = (controlPlanes: number, more = "") =>
    environment(`infrastructure:
  kind: simulated
controlPlane:
  count: ${controlPlanes}
workers: []
secrets:
  file: generated/local/secrets.yaml
${more}`);
  const nodes = async () => {
    const kubeconfig = readFileSync(join(checkout.root, "generated/local/kubeconfig"), "utf8");
    const { items } = JSON.parse(await kubernetesGet(kubeconfig, "/api/v1/nodes"));
    return items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  };
  /** Every way sees the same cluster, and nothing to change. */
  const expectNothingToDo = async () => {
    expect(await npm("plan", "--", "local")).toMatchObject({ code: 0 });
    for (const way of [inStack, inHcl]) {
      await ok(way("init", "-input=false"));
      await ok(way("plan", "-input=false", "-detailed-exitcode"));
    }
  };

  beforeAll(async () => {
    checkout = createCheckout();
    mkdirSync(join(checkout.root, "generated/home"), { recursive: true });
    await ok(run("node", ["bin/talosmith.js", "provider", "install"]));
  });

  afterAll(async () => {
    if (existsSync(join(checkout.root, "generated/.simulator"))) await npm("destroy", "--", "local");
    checkout.remove();
  });

  test("`npm run deploy` makes the cluster, and every way finds nothing to change", async () => {
    local(1);
    await ok(run("node", ["bin/talosmith.js", "synth", "local", "--hcl"]));
    await ok(npm("deploy", "--", "local", "--auto-approve"));
    await expectNothingToDo();
    const outputs = JSON.parse(await ok(inHcl("output", "-json")));
    expect(Object.keys(outputs).sort()).toEqual([
      "cluster_endpoint",
      "control_plane_ips",
      "installer_image",
      "kubeconfig_path",
      "talosconfig_path",
      "worker_ips",
    ]);
  });

  test("the state is the owner's alone", () => {
    expect(statSync(join(checkout.root, "state")).mode & 0o777).toBe(0o700);
    expect(statSync(join(checkout.root, "state/local.tfstate")).mode & 0o777).toBe(0o600);
  });

  test("the tool in cdktf.out scales up", async () => {
    local(3);
    await ok(npm("synth", "--", "local"));
    await ok(inStack("apply", "-input=false", "-auto-approve"));
    expect(await nodes()).toEqual(["local-cp-1", "local-cp-2", "local-cp-3"]);
  });

  test("the tool in terraform/local changes the machines' config, and gives the credentials that were asked for", async () => {
    local(3, `outputs: { kubeconfig: true }\n${patched}`);
    await ok(run("node", ["bin/talosmith.js", "synth", "local", "--hcl"]));
    const plan = await inHcl("plan", "-input=false", "-detailed-exitcode", "-no-color");
    expect(plan.stdout).toContain("vm.max_map_count");
    expect(plan.code).toBe(2);
    await ok(inHcl("apply", "-input=false", "-auto-approve"));
    const onDisk = readFileSync(join(checkout.root, "generated/local/kubeconfig"), "utf8");
    expect(await ok(inHcl("output", "-raw", "kubeconfig"))).toBe(onDisk);
    await expectNothingToDo();
  });

  test("a lock that another run holds is shown with its holder and what to do", async () => {
    local(1, patched);
    await ok(npm("synth", "--", "local"));
    // It holds the lock while it waits for an answer, and gives up when its input ends.
    const holder = spawn(tool.path, ["apply"], {
      cwd: join(checkout.root, "cdktf.out/stacks/local"),
      env: cleanEnvironment(),
      stdio: ["pipe", "ignore", "ignore"],
    });
    try {
      const held = () => existsSync(join(checkout.root, "state/.local.tfstate.lock.info"));
      await expect.poll(held, { timeout: 60_000 }).toBe(true);
      const refused = await npm("plan", "--", "local");
      expect(refused.stderr).toMatch(/the state is locked: \S+@\S+ is [\s\S]*pgrep -a \w+/);
      expect(refused.code).toBe(1);
    } finally {
      holder.stdin.end();
      await once(holder, "close");
    }
  });

  test("`npm run deploy` scales down: the members leave before their machines go", async () => {
    await ok(npm("deploy", "--", "local", "--auto-approve"));
    expect(await nodes()).toEqual(["local-cp-1"]);
    expect(readFileSync(join(checkout.root, "state/local.tfstate"), "utf8")).not.toContain("client-key-data");
    expect(existsSync(join(checkout.root, "state/backups"))).toBe(true);
  });

  test("a main.ts that adds to a stack is heard through our own commands, too", async () => {
    const main = join(checkout.root, "main.ts");
    writeFileSync(
      main,
      `import { TerraformOutput } from "cdktn";
import { synthesizeProject } from "./workspace/synthesize/index.ts";
await synthesizeProject(import.meta.dirname, {
  extend: (stack) => void new TerraformOutput(stack, "motto", { value: "more than the file says" }),
});
`,
    );
    expect((await npm("plan", "--", "local", "--raw")).stdout).toContain("more than the file says");
    const plan = await npm("plan", "--", "local");
    expect(plan).toMatchObject({ code: 2, stdout: expect.stringContaining("Outputs or settings change") });
    appendFileSync(main, 'throw new Error("a fault in main.ts");\n');
    const broken = await npm("plan", "--", "local");
    expect(broken.stderr).toContain("a fault in main.ts");
    expect(broken.code).toBe(1);
    await ok(run("git", ["checkout", "-q", "main.ts"]));
  });

  test("an empty or cut-off state is refused with the way back, and nothing is made twice", async () => {
    const state = join(checkout.root, "state/local.tfstate");
    const whole = readFileSync(state);
    const empty = Buffer.alloc(0);
    const cut = whole.subarray(0, 300);
    for (const [command, part] of [
      ["deploy", empty],
      ["plan", cut],
      ["destroy", empty],
      ["status", cut],
    ] as const) {
      writeFileSync(state, part);
      const refused = await run("node", ["bin/talosmith.js", command, "local"]);
      expect({ command, code: refused.code, said: refused.stderr }).toEqual({
        command,
        code: 1,
        said: expect.stringMatching(/is (empty|not a whole Terraform state)[\s\S]*cp state\/\S+ state\/local\.tfstate/),
      });
    }
    writeFileSync(state, whole);
  });

  test("the tool in terraform/local destroys it all", async () => {
    await ok(run("node", ["bin/talosmith.js", "synth", "local", "--hcl"]));
    await ok(inHcl("destroy", "-input=false", "-auto-approve"));
    await ok(npm("destroy", "--", "local"));
    expect(existsSync(join(checkout.root, "state"))).toBe(false);
  });
});
