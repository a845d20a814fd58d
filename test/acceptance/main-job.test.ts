// SPDX-License-Identifier: Apache-2.0
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, createCheckout } from "../support/checkout.ts";
import { destroyProgress, expectedDestroy } from "../support/destroy-progress.ts";
import { everything } from "../support/everything.ts";
import { kubernetesGet } from "../support/kubernetes-get.ts";
import { findProgram, programFolder } from "../support/programs.ts";
import { type CommandResult, runCommand } from "../support/run-command.ts";

const basics = Object.fromEntries(["node", "npm", "git", "sh", "env"].map((name) => [name, findProgram(name)]));
const managers = ["terraform", "tofu", "talosmith"] as const;

/** Every file of the checkout that is not under generated/, node_modules or .git. */
function filesOutsideGenerated(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((file) => !/^(generated|node_modules|\.git)\//.test(file))
    .sort();
}

function processesMentioning(text: string): string[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return ""; // gone meanwhile
      }
    })
    .filter((commandLine) => commandLine.includes(text));
}

describe.each(managers)("the main job through %s", (manager) => {
  const binary = manager === "talosmith" ? undefined : findProgram(manager);
  const missing = manager !== "talosmith" && binary === undefined;
  let checkout: Checkout;
  let before: string[];
  let first: CommandResult;
  const path = programFolder({ ...basics, ...(binary === undefined ? {} : { [manager]: binary }) });
  const npm = (...args: string[]) =>
    runCommand("npm", args, {
      cwd: checkout.root,
      env: { HOME: `${checkout.root}/generated/home`, PATH: path },
    });

  beforeAll(async () => {
    if (missing) return;
    checkout = createCheckout();
    before = filesOutsideGenerated(checkout.root);
    first = await npm("start");
  });

  afterAll(async () => {
    if (missing) return;
    if (existsSync(join(checkout.root, "generated/.simulator")))
      await npm("run", "destroy", "--", "local", "--auto-approve");
    checkout.remove();
  });

  test.skipIf(missing)("`npm start` brings up five machines in under 15 seconds and says so", () => {
    expect(first.stderr + first.stdout).toContain("local is up: 3 control planes, 2 workers");
    expect(first.code).toBe(0);
    // Other tests run at the same time, and the load shows how many share a core.
    const crowd = Math.max(1, (loadavg()[0] ?? 1) / availableParallelism());
    expect(first.seconds).toBeLessThan(everything ? 15 * crowd : Number.POSITIVE_INFINITY);
    expect(first.stderr + first.stdout).toContain(
      manager === "talosmith"
        ? "local is new: talosmith manages it without Terraform.\n"
        : `local is new: ${manager} manages it (state/local.tfstate).\n`,
    );
  });

  test.skipIf(missing)("the steps are shown while they are taken, the same through every manager", () => {
    const lines = [...first.stderr.matchAll(/^\d\d:\d\d:\d\d \[\d+\/\d+\] ([✓…] .*)$/gm)].map(([, line = ""]) => line);
    const places = [
      /^✓ create machine local-cp-1/,
      /^✓ apply initial config to local-cp-1$/,
      /^✓ bootstrap etcd on local-cp-1$/,
      /^✓ cluster local is healthy and up to date$/,
      /^✓ create client files$/,
    ].map((words) => lines.findIndex((line) => words.test(line)));
    expect(places, first.stderr).not.toContain(-1);
    expect(places).toEqual([...places].sort((left, right) => left - right));
    expect(first.stderr).toContain("[20/20] ✓ create client files\n");
  });

  test.skipIf(missing)("kubeconfig and talosconfig are written for the owner only", () => {
    for (const file of ["kubeconfig", "talosconfig", "secrets.yaml"]) {
      const { mode, size } = statSync(join(checkout.root, "generated/local", file));
      expect({ file, mode: (mode & 0o777).toString(8) }).toEqual({ file, mode: "600" });
      expect(size).toBeGreaterThan(500);
    }
  });

  if (manager !== "talosmith")
    test.skipIf(missing)("a copy of the state is kept after the first deploy", () => {
      const state = join(checkout.root, "state");
      const [copy = "none", ...more] = readdirSync(join(state, "backups"));
      expect(more).toEqual([]);
      expect(readFileSync(join(state, "backups", copy), "utf8")).toBe(
        readFileSync(join(state, "local.tfstate"), "utf8"),
      );
    });

  test.skipIf(missing)("the Kubernetes API accepts the kubeconfig and knows five ready nodes", async () => {
    const kubeconfig = readFileSync(join(checkout.root, "generated/local/kubeconfig"), "utf8");
    expect(await kubernetesGet(kubeconfig, "/readyz")).toBe("ok");
    const nodes = JSON.parse(await kubernetesGet(kubeconfig, "/api/v1/nodes"));
    const ready = nodes.items.map((node: NodeObject) => [
      node.metadata.name,
      node.status.conditions.find(({ type }) => type === "Ready")?.status,
    ]);
    expect(ready).toEqual(
      ["local-cp-1", "local-cp-2", "local-cp-3", "local-w-1", "local-w-2"].map((name) => [name, "True"]),
    );
  });

  const talosctl = findProgram("talosctl");
  test.skipIf(missing || talosctl === undefined)("the real talosctl accepts the talosconfig", async () => {
    const { code, stdout, stderr } = await runCommand(
      talosctl ?? "",
      ["--talosconfig", "generated/local/talosconfig", "version"],
      { cwd: checkout.root },
    );
    expect(stderr).toBe("");
    expect(stdout.match(/Tag: +v1\.13\.9/g)?.length).toBeGreaterThanOrEqual(5);
    expect(code).toBe(0);
  });

  const kubectl = findProgram("kubectl");
  test.skipIf(missing || kubectl === undefined)(
    "the real kubectl lists the nodes and finds the API ready",
    async () => {
      const run = (...args: string[]) =>
        runCommand(kubectl ?? "", ["--kubeconfig", "generated/local/kubeconfig", ...args], { cwd: checkout.root });
      expect((await run("get", "nodes")).stdout.match(/ Ready /g)).toHaveLength(5);
      expect((await run("get", "--raw", "/readyz")).stdout).toBe("ok");
    },
  );

  test.skipIf(missing)("git sees nothing of what was written", () => {
    expect(checkout.gitStatus()).toBe("");
  });

  test.skipIf(missing)("a second `npm start` changes nothing, and a plan has nothing to do", async () => {
    const kubeconfig = readFileSync(join(checkout.root, "generated/local/kubeconfig"), "utf8");
    const again = await npm("start");
    expect(again.stdout + again.stderr).toContain("Nothing to change");
    expect(again.code).toBe(0);
    expect(readFileSync(join(checkout.root, "generated/local/kubeconfig"), "utf8")).toBe(kubeconfig);
    expect((await npm("run", "plan", "--", "local")).code).toBe(0);
  });

  test.skipIf(missing)(
    "a dry run of `scale` gives the plan of the manager that was found, and changes no file",
    async () => {
      const words = ["scale", "local", "w", "--to", "1", "--dry-run", "--json"];
      const planned = await npm("exec", "--", "talosmith", ...words);
      expect(planned.code, planned.stderr).toBe(0);
      expect(JSON.parse(planned.stdout)).toMatchObject({
        v: 1,
        managedBy: manager,
        changes: true,
        infrastructure: [{ what: "destroy machine", names: ["local-w-2"] }],
        clusters: [{ name: "local" }],
      });
      expect(checkout.gitStatus()).toBe("");
    },
  );

  test.skipIf(missing)("a plan warns of a machine that is off, and a deploy waits for it", async () => {
    const power = (to: string) => npm("exec", "--", "talosmith", "sim", "power", "local-cp-1", to);
    expect((await power("off")).code).toBe(0);
    const dark = await npm("run", "plan", "--", "local");
    expect(dark.stderr).toContain(manager === "talosmith" ? "Could not observe local-cp-1" : "local-cp-1: ");
    expect(dark.stdout).toContain("Nothing to change on the machines that answer.");
    const deploy = npm("start");
    expect((await power("on")).code).toBe(0);
    const { stdout, code } = await deploy;
    expect(stdout).toContain("local is up");
    expect(code).toBe(0);
  });

  test.skipIf(missing)("destroy leaves no process, no state and no file outside generated/", async () => {
    expect(processesMentioning(checkout.root)).not.toEqual([]);
    // A wish that a deploy refuses, such as an older version after a checkout, keeps nobody from destroying.
    appendFileSync(join(checkout.root, "environments/local.yaml"), "cluster: { talosVersion: v1.13.8 }\n");
    const destroyed = await npm("run", "destroy", "--", "local", "--auto-approve");
    if (manager !== "talosmith")
      expect(destroyed.stderr).toContain(
        "The file asks for a change that is refused; it is ignored, and what exists is destroyed.",
      );
    expect(destroyed.stderr + destroyed.stdout).toContain("local is destroyed");
    expect(destroyProgress(destroyed.stderr)).toEqual(expectedDestroy(5));
    expect(destroyed.code).toBe(0);
    expect(filesOutsideGenerated(checkout.root)).toEqual(before);
    expect(existsSync(join(checkout.root, "generated/.simulator"))).toBe(false);
    expect(existsSync(join(checkout.root, "generated/local/kubeconfig"))).toBe(false);
    await expect.poll(() => processesMentioning(checkout.root), { timeout: 5000 }).toEqual([]);
  });
});

interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
}
