// SPDX-License-Identifier: Apache-2.0
// Kills talosmith, terraform, the provider or the simulator at random moments of real operations, and runs the same
// command once more: it must end with 0 and leave nothing to do. Kills that did not interrupt the command do not count.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { makeProject, processesOf, removeProject } from "../test/hostile/project.ts";
import {
  type Cluster,
  deployCommand,
  destroyCommand,
  environmentText,
  firstCluster,
  type Path,
} from "../test/support/interruption-operations.ts";
import { cleanEnvironment, findTools } from "../test/support/terraform.ts";

const { values } = parseArgs({
  options: {
    path: { type: "string", default: "alone" },
    interruptions: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    // A round is replayed, or a stopped loop continued, by its number.
    round: { type: "string", default: "1" },
  },
});
const path = pathOf(values.path);
const goal = Number(values.interruptions);
const [tool] = findTools();
if (path === "terraform" && tool === undefined)
  throw new Error("--path terraform: neither terraform nor tofu is on the PATH");

/** Seconds. A rerun that takes longer is taken for one that hangs. */
const longestRun = 300;

interface Operation {
  readonly name: string;
  /** What the environment file says from then on; undefined: the cluster is destroyed. */
  readonly change?: (cluster: Cluster) => Cluster;
}
const operations: readonly Operation[] = [
  { name: "create", change: (cluster) => ({ ...cluster, controlPlanes: 1, workers: 1 }) },
  { name: "scale up", change: (cluster) => ({ ...cluster, controlPlanes: 3, workers: 2 }) },
  { name: "upgrade Kubernetes", change: (cluster) => ({ ...cluster, kubernetes: cluster.kubernetes + 1 }) },
  { name: "upgrade Talos", change: (cluster) => ({ ...cluster, talos: cluster.talos + 1 }) },
  { name: "scale down", change: (cluster) => ({ ...cluster, controlPlanes: 1, workers: 1 }) },
  { name: "destroy" },
];
/** How long each takes undisturbed, in milliseconds, as known so far. */
const usual = new Map(operations.map(({ name }) => [name, 12_000]));

type Victim = "talosmith" | "terraform" | "provider" | "simulator";
const victims: readonly Victim[] =
  path === "alone" ? ["talosmith", "talosmith", "simulator"] : ["talosmith", "terraform", "provider", "simulator"];

/** From 0 to 1, the same for the same words. */
const chance = (...words: readonly (string | number)[]): number =>
  createHash("sha256")
    .update([values.seed, path, ...words].join("\n"))
    .digest()
    .readUInt32BE() /
  2 ** 32;

class Project {
  readonly root = makeProject({ "charts/app/Chart.yaml": "apiVersion: v2\nname: app\nversion: 0.1.0\n" });
  readonly #env = cleanEnvironment({
    HOME: join(this.root, "home"),
    TMPDIR: join(this.root, "tmp"),
    TALOSMITH_HELM: resolve("test/support/stand-in-helm.mjs"),
    STAND_IN_HELM: join(this.root, "releases.json"),
    ...(tool === undefined ? {} : { TERRAFORM_BINARY_NAME: tool.path }),
  });

  constructor() {
    for (const folder of ["home", "tmp"]) mkdirSync(join(this.root, folder));
  }

  write(cluster: Cluster): void {
    writeFileSync(join(this.root, "environments/local.yaml"), environmentText(cluster));
  }

  /** To its end; null as code: it was killed. Throws when it hangs, and leaves it for inspection. */
  async run(words: readonly string[], kill?: { readonly victim: Victim; readonly after: number }) {
    const began = performance.now();
    const child = spawn(process.execPath, [resolve("bin/talosmith.js"), ...words.slice(1)], {
      cwd: this.root,
      env: this.#env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        said += text;
      });
    const ended = new Promise<number | null>((done, fail) => child.on("error", fail).on("exit", done));
    const closed = new Promise<true>((done) => child.on("close", () => done(true)));
    const hit = kill === undefined ? undefined : this.#kill(kill.victim, child.pid ?? 0, kill.after, ended);
    const code = await Promise.race([ended, sleep(longestRun * 1000, "hangs" as const, { ref: false })]);
    if (code === "hangs") throw new Error(`${words.join(" ")} hangs in ${this.root}, pid ${child.pid}\n${said}`);
    return { code, said, hit: (await hit) ?? false, took: performance.now() - began, closed };
  }

  async #kill(victim: Victim, talosmith: number, after: number, ended: Promise<unknown>): Promise<boolean> {
    const over = Symbol();
    if ((await Promise.race([sleep(after), ended.then(() => over)])) === over) return false;
    // terraform may not run yet: a victim that is not there is waited for.
    while ((await Promise.race([sleep(5), ended.then(() => over)])) !== over) {
      const pid = victim === "talosmith" ? talosmith : this.#find(victim);
      if (pid !== undefined && kill(pid)) return true;
    }
    return false;
  }

  #find(victim: Exclude<Victim, "talosmith">): number | undefined {
    if (victim === "simulator") {
      const record = join(this.root, "generated/.simulator/daemon.json");
      return existsSync(record)
        ? (JSON.parse(readFileSync(record, "utf8")) as { readonly pid: number }).pid
        : undefined;
    }
    const line = victim === "provider" ? /terraform-provider/ : /^\S*(terraform|tofu) /;
    return processesOf(this.root).find((process) => line.test(process.line))?.pid;
  }

  /** What is wrong after a command that has ended with 0. */
  async faults(destroyed: boolean, outputClosed: Promise<true>): Promise<string[]> {
    const deadline = performance.now() + 30_000;
    while (processesOf(this.root).length > 0 && performance.now() < deadline) await sleep(50);
    const faults = processesOf(this.root).map(({ line }) => `still runs: ${line}`);
    // A pipe into another command would wait for it.
    if (!(await Promise.race([outputClosed, sleep(1000, false)]))) faults.push("a process keeps its output open");
    if (destroyed && !(await this.#simulatorEnds())) faults.push("simulated machines are left");
    if (destroyed) return faults;
    const { code, said } = await this.run(["talosmith", "plan", "local"]);
    return code === 0 ? faults : [...faults, `plan ended with ${code}: ${said}`];
  }

  /** The daemon answers the deletion of its last machine before it ends; one without machines would run for 30 s more. */
  async #simulatorEnds(): Promise<boolean> {
    const deadline = performance.now() + 10_000;
    while (existsSync(join(this.root, "generated/.simulator")) && performance.now() < deadline) await sleep(50);
    return !existsSync(join(this.root, "generated/.simulator"));
  }
}

/** False when it had ended already. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    return false;
  }
}

function pathOf(word: string): Path {
  if (word === "alone" || word === "terraform") return word;
  throw new Error(`--path: found ${word}, expected alone or terraform`);
}

const count = { kills: 0, interruptions: 0, failed: 0 };

async function round(number: number): Promise<void> {
  const project = new Project();
  let cluster = firstCluster;
  for (const { name, change } of operations) {
    cluster = change?.(cluster) ?? cluster;
    project.write(cluster);
    const words = change === undefined ? destroyCommand(path) : deployCommand(path);
    const victim = victims[Math.floor(chance(number, name, "victim") * victims.length)] ?? "talosmith";
    const after = chance(number, name, "moment") * (usual.get(name) ?? 0);
    const first = await project.run(words, { victim, after });
    const interrupted = first.hit && first.code !== 0;
    count.kills += Number(first.hit);
    count.interruptions += Number(interrupted);
    const rerun = interrupted ? await project.run(words) : first;
    if (!interrupted) usual.set(name, first.took);
    const faults =
      rerun.code === 0
        ? await project.faults(change === undefined, rerun.closed)
        : [`ended with ${rerun.code}:\n${rerun.said}`];
    const what = `round ${number}, ${name}: SIGKILL of ${victim} after ${(after / 1000).toFixed(2)} s`;
    const ended = first.hit ? `ended with ${first.code}` : "not hit";
    console.log(
      `${count.interruptions}/${goal} ${what}: ${ended}; rerun ${rerun.code}, ${(rerun.took / 1000).toFixed(1)} s`,
    );
    if (faults.length === 0) continue;
    count.failed += 1;
    console.log(`FAILED, kept in ${project.root}\n${faults.join("\n")}\nthe first run said:\n${first.said}`);
    // The next round begins with another project.
    await project.run(["talosmith", "sim", "down"]);
    return;
  }
  removeProject(project.root);
}

for (let number = Number(values.round); count.interruptions < goal; number += 1) await round(number);
console.log(`${path}: ${count.kills} kills, ${count.interruptions} interruptions, ${count.failed} first reruns failed`);
if (count.failed > 0) process.exitCode = 1;
