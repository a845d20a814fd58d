// SPDX-License-Identifier: Apache-2.0
// More memory for libvirt's workers through the real terraform and our real provider: libvirt's has the real schema and only
// remembers, and the machines are simulated ones at the addresses of the file.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { registerDeploy, registerPlan } from "../../cli/commands/lifecycle.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { systemClock } from "../../talos/clock.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { standIns } from "../pages/clouds.ts";
import { testContext } from "../support/command-context.ts";
import { everything } from "../support/everything.ts";
import { findProgram, programFolder } from "../support/programs.ts";

const terraform = findProgram("terraform");
const names = ["lab-cp-1", "lab-w-1", "lab-w-2"];

const state = z.object({
  resources: z.array(
    z.object({
      type: z.string(),
      instances: z.array(z.object({ attributes: z.looseObject({ name: z.string().optional() }) })),
    }),
  ),
});

const entry = z.object({ step: z.string(), event: z.string() });

describe.skipIf(!everything || terraform === undefined)("hardware that changes through Terraform", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-hardware-"));
  const home = join(root, "home");
  const path = programFolder({ node: findProgram("node"), sh: findProgram("sh"), terraform });
  // Not in the project, which would take them for machines of kind simulated.
  const simulator = projectSimulator(join(root, "elsewhere"));
  let network = "";

  const environment = (memory: string) => `
cluster: { installDisk: /dev/sda }
infrastructure:
  kind: libvirt
  trustOnFirstUse: true
  network: { cidr: ${network}.0/24, controlPlaneOffset: 2, workerOffset: 3 }
controlPlane: { count: 1 }
workers: [{ count: 2, memory: ${memory} }]
`;
  const write = (memory: string) => writeFileSync(join(root, "environments/lab.yaml"), environment(memory));

  async function talosmith(...args: string[]) {
    const context = testContext({
      cwd: root,
      env: { PATH: path, HOME: home, CHECKPOINT_DISABLE: "1" },
      clock: systemClock,
    });
    await runProgram(createProgram(context, [registerDeploy, registerPlan]), args, context);
    return context.written;
  }

  /** The memory of each virtual machine, as Terraform's state has it. */
  function memories(): ReadonlyMap<string, unknown> {
    const { resources } = state.parse(JSON.parse(readFileSync(join(root, "state/lab.tfstate"), "utf8")));
    const domains = resources.filter(({ type }) => type === "libvirt_domain").flatMap(({ instances }) => instances);
    return new Map(domains.map(({ attributes }) => [attributes.name ?? "", attributes.memory]));
  }

  /** Starts machines that were shut down, as libvirt's provider does once it has changed them. Returns whom, in order. */
  function hypervisor(before: ReadonlyMap<string, unknown>, signal: AbortSignal) {
    const started: string[] = [];
    const look = async () => {
      for (const { id, name, stage } of await simulator.listMachines())
        if (stage === "off" && memories().get(name) !== before.get(name)) {
          started.push(name);
          await simulator.setPower(id, true);
        }
    };
    const loop = (async () => {
      while (!signal.aborted) {
        // Terraform writes its state in place, so that half of it may be read.
        await look().catch((error: unknown) => {
          if (!(error instanceof SyntaxError)) throw error;
        });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    return { started, loop };
  }

  beforeAll(async () => {
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    for (const host of ["registry.terraform.io", "registry.opentofu.org"])
      cpSync(join(await standIns(), host), join(home, ".terraform.d/plugins", host), { recursive: true });
    const made = [];
    for (const name of names) made.push(await simulator.createMachine({ name, cluster: "lab" }));
    network = made[0]?.address.replace(/\.\d+$/, "") ?? "";
    write("2GiB");
  });
  afterAll(async () => {
    await simulator.shutdown();
    rmSync(root, { recursive: true, force: true });
  });

  test("is changed in turn: drain, shutdown, change, return, uncordon", async () => {
    const first = await talosmith("deploy", "lab", "--yes");
    expect(first.exitCode, first.stderr.slice(-1500)).toBe(0);
    write("3GiB");
    const stop = new AbortController();
    const { started, loop } = hypervisor(memories(), stop.signal);
    const second = await talosmith("deploy", "lab", "--yes");
    stop.abort();
    await loop;
    expect(second.stderr).toContain("lab-w-1, lab-w-2: hardware changes, one machine at a time");
    expect(second.exitCode, second.stderr.slice(-1500)).toBe(0);
    expect(started).toEqual(["lab-w-1", "lab-w-2"]);
    const entries = readFileSync(join(root, "generated/lab/journal.jsonl"), "utf8").trimEnd().split("\n");
    const begun = entries.map((line) => entry.parse(JSON.parse(line))).filter(({ event }) => event === "begun");
    const rolled = ["lab-w-1", "lab-w-2"].flatMap((name) =>
      ["drain", "shut-down", "await-boot", "uncordon"].map((step) => `${step}/${name}`),
    );
    expect(begun.map(({ step }) => step).slice(-rolled.length)).toEqual(rolled);
    expect(await talosmith("plan", "lab")).toMatchObject({ exitCode: 0, stdout: "Nothing to change.\n" });
  });
});
