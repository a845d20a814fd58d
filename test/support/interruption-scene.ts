// SPDX-License-Identifier: Apache-2.0
import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "vitest";
import { makeProject, removeProject } from "../hostile/project.ts";
import { InterruptedProject } from "./interrupted-project.ts";
import {
  type Case,
  type Cluster,
  commandOf,
  deployCommand,
  destroyCommand,
  environmentText,
  journalFile,
  kindOf,
  type Operation,
  type Path,
} from "./interruption-operations.ts";
import { cleanEnvironment } from "./terraform.ts";

/** In seconds: a rerun has little to wait for, but machines may be crowded. */
const longestRerun = 180;

/** What an undisturbed run may leave as well. */
const usual =
  /^(state\/(local\.tfstate(\.backup)?|local\.machines\.json|backups\/.*)|backups\/.*|releases\.json(\.calls)?|secrets\/local\.yaml|generated\/local\/(journal\.jsonl|kubeconfig|talosconfig|control-planes\.json|conditions\.json)|cdktf\.out\/.*(manifest\.json|cdk\.tf\.json|\.terraform\.lock\.hcl))$/;

/** Seconds. */
interface Took {
  readonly first: number;
  readonly rerun: number;
}

/** One project; each case goes on with the cluster that the one before has left. */
export class InterruptionScene {
  #project: InterruptedProject | undefined;
  /** As it is deployed. */
  #cluster: Cluster | undefined;
  readonly #path: Path;
  readonly #tool: string;
  readonly #start: Cluster;

  constructor(path: Path, tool: string, start: Cluster) {
    this.#path = path;
    this.#tool = tool;
    this.#start = start;
  }

  /** Interrupts the operation and runs it once more; returns the seconds that both took. */
  async interrupt(one: Case): Promise<Took> {
    this.#project ??= this.#make();
    const project = this.#project;
    try {
      return await this.#interrupt(one, project);
    } catch (error) {
      // No case goes on with this project. It is kept, to be looked at, but for its simulator.
      this.#project = undefined;
      this.#cluster = undefined;
      await project.run(["talosmith", "sim", "down"]);
      throw error;
    }
  }

  async #interrupt(one: Case, project: InterruptedProject): Promise<Took> {
    const { operation, path, at, signal, whom, group } = one;
    await this.#prepare(operation, project);
    const cluster = this.#cluster ?? this.#start;
    const after = operation.after?.(cluster);
    const words = commandOf(operation, path, after ?? cluster, this.#tool);
    if (after !== undefined && words[1] !== "upgrade") write(project, after);
    const before = {
      secrets: project.read("secrets/local.yaml"),
      files: project.files(),
      entries: entriesOf(project).length,
    };

    const first = await project.run(words, { at, signal, whom, group }, operation.folder);
    expect({ hit: first.hit, done: first.code === 0 }, first.said).toEqual({ hit: true, done: false });
    await project.settled();
    const rerun = await project.run(words, undefined, operation.folder);
    expect(rerun.code, `the rerun said:\n${rerun.said}\nthe first run had said:\n${first.said}`).toBe(0);
    expect(rerun.seconds, rerun.said).toBeLessThan(longestRerun);
    await project.settled();

    const kinds = new Set(entriesOf(project).slice(before.entries).map(kindOf));
    const known = [...(operation.kinds[path] ?? []), ...(operation.sometimes ?? [])].map((kind) => kind.split("#")[0]);
    // Whose cluster it is, is no step: nothing can be interrupted there.
    expect([...kinds].filter((kind) => kind !== "owner" && !known.includes(kind))).toEqual([]);
    if (before.secrets !== undefined)
      expect(project.read("secrets/local.yaml") === before.secrets).toBe(operation.newSecrets !== true);
    if (after === undefined) expect(existsSync(project.path("generated/.simulator"))).toBe(false);
    else await expectSettled(project);
    expect(project.files().filter((file) => !before.files.includes(file) && !usual.test(file))).toEqual([]);
    this.#cluster = after;
    return { first: first.seconds, rerun: rerun.seconds };
  }

  /** Brings the cluster to where the operation begins, undisturbed. */
  async #prepare({ before, prepare }: Operation, project: InterruptedProject): Promise<void> {
    const wanted = before?.(this.#cluster ?? this.#start);
    if (wanted === undefined && this.#cluster !== undefined) {
      await done(project, destroyCommand(this.#path));
      this.#cluster = undefined;
    } else if (wanted !== undefined && JSON.stringify(wanted) !== JSON.stringify(this.#cluster)) {
      write(project, wanted);
      await done(project, deployCommand(this.#path));
      this.#cluster = wanted;
    }
    await prepare?.(project);
  }

  #make(): InterruptedProject {
    const root = makeProject({ "charts/app/Chart.yaml": "apiVersion: v2\nname: app\nversion: 0.1.0\n" });
    const env = cleanEnvironment({
      ...(this.#path === "terraform" ? { TERRAFORM_BINARY_NAME: this.#tool } : {}),
      TALOSMITH_HELM: resolve("test/support/stand-in-helm.mjs"),
      STAND_IN_HELM: `${root}/releases.json`,
      STAND_IN_HELM_SLOW: "300",
    });
    return new InterruptedProject(root, env);
  }

  async dispose(): Promise<void> {
    if (this.#project === undefined) return;
    await this.#project.run(destroyCommand(this.#path));
    removeProject(this.#project.root);
  }
}

function write(project: InterruptedProject, cluster: Cluster): void {
  writeFileSync(project.path("environments/local.yaml"), environmentText(cluster));
}

async function done(project: InterruptedProject, words: readonly string[]): Promise<void> {
  const { code, said } = await project.run(words);
  expect(code, said).toBe(0);
}

function entriesOf(project: InterruptedProject): string[] {
  return (project.read(journalFile) ?? "").split("\n").filter((line) => line !== "");
}

/** Nothing to change, healthy, no cordon, no lock. */
async function expectSettled(project: InterruptedProject): Promise<void> {
  const plan = await project.run(["talosmith", "plan", "local"]);
  expect({ code: plan.code, health: /Not healthy.*/.exec(plan.said)?.[0] }, plan.said).toEqual({ code: 0 });
  expect(await project.cordoned()).toEqual([]);
  expect((await project.run(["talosmith", "unlock", "local"])).said).toContain("Nobody holds it.");
}
