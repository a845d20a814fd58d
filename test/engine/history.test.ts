// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { applyCluster, type DesiredCluster, defaultPolicy, observe, plan } from "../../engine/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { type Lab, lab, testSecrets, type Wish, wish } from "./fixture.ts";
import { killingPort } from "./killing-port.ts";
import { Random } from "./random.ts";

/** `TALOSMITH_SEED=17 npx vitest run test/engine/history.test.ts` replays one; `TALOSMITH_HISTORIES` sets how many. */
const only = process.env.TALOSMITH_SEED;
const count = Number(process.env.TALOSMITH_HISTORIES ?? 500);
const seeds = only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(only)];

const releases = [
  { talos: "v1.11.6", kubernetes: "1.34.1" },
  { talos: "v1.12.11", kubernetes: "1.35.4" },
  { talos: "v1.13.9", kubernetes: "1.36.3" },
];

/** Virtual time, in milliseconds: a drain, two reboots and the joining after each. */
const perMachine = 40_000;

const minorOf = (version: string) => Number(version.split(".")[1]);

/** One cluster's life: what is wished, and what happens to it. */
class History {
  readonly lab: Lab;
  readonly told: string[] = [];
  readonly #random: Random;
  #wish: Required<Pick<Wish, "controlPlanes" | "workers" | "talos" | "kubernetes" | "sysctl" | "file">>;
  #leaving: readonly string[] = [];
  #names = 10;
  readonly #newest = new Map<string, string>();

  constructor(seed: number) {
    this.#random = new Random(seed);
    const release = releases[this.#random.below(2)] ?? releases[0];
    this.#wish = {
      controlPlanes: this.#random.pick([["cp-1"], ["cp-1", "cp-2", "cp-3"]]),
      workers: this.#random.pick([[], ["w-1"], ["w-1", "w-2", "w-3"]]),
      talos: release?.talos ?? "",
      kubernetes: release?.kubernetes ?? "",
      sysctl: "1",
      file: "a",
    };
    this.lab = lab(this.desired());
    for (const machine of this.lab.world.machines.values()) machine.version = this.#wish.talos;
  }

  desired(): DesiredCluster {
    return wish({ ...this.#wish, leaving: this.#leaving, installerInConfig: true });
  }

  /** Changes the wish or the world, or both. */
  next(): void {
    const { world } = this.lab;
    world.blackouts.length = 0;
    for (const name of this.#leaving) world.forget(name);
    this.#leaving = [];
    const { controlPlanes, workers } = this.#wish;
    const event = this.#random.pick(["sysctl", "file", "release", "grow", "shrink", "replace", "swap", "grow-workers"]);
    this.told.push(event);
    switch (event) {
      case "sysctl":
        this.#wish = { ...this.#wish, sysctl: String(this.#random.below(1000)) };
        break;
      case "file":
        // A reboot that costs the quorum is refused; with two members nobody can be spared.
        if (controlPlanes.length !== 2) this.#wish = { ...this.#wish, file: `f${this.#random.below(1000)}` };
        break;
      case "release": {
        const index = releases.findIndex(({ talos }) => talos === this.#wish.talos);
        const release = releases[index + 1];
        if (release !== undefined && controlPlanes.length !== 2) this.#wish = { ...this.#wish, ...release };
        break;
      }
      case "grow":
        this.#wish = {
          ...this.#wish,
          controlPlanes: [...controlPlanes, this.#add("controlplane"), this.#add("controlplane")],
        };
        break;
      case "grow-workers":
        this.#wish = { ...this.#wish, workers: [...workers, this.#add("worker"), this.#add("worker")] };
        break;
      case "shrink": {
        const all = [...controlPlanes, ...workers];
        const gone = this.#random.pick(all);
        if (controlPlanes.includes(gone) && controlPlanes.length === 1) break;
        this.#leave(gone);
        break;
      }
      case "replace":
        if (controlPlanes.length > 2) world.replace(this.#random.pick([...controlPlanes, ...workers]));
        else if (workers.length > 0) world.replace(this.#random.pick(workers));
        break;
      case "swap": {
        if (controlPlanes.length < 3) break;
        const gone = this.#random.pick(controlPlanes);
        this.#wish = { ...this.#wish, controlPlanes: [...controlPlanes, this.#add("controlplane")] };
        this.#leave(gone);
        if (this.#random.below(2) === 0) world.lose(gone);
        break;
      }
    }
  }

  /** Now and then a machine is cut off for a while, at any moment of the run. */
  trouble(): void {
    const { world, timing } = this.lab;
    const { controlPlanes, workers } = this.#wish;
    const candidates = controlPlanes.length > 2 ? [...controlPlanes, ...workers] : workers;
    if (candidates.length === 0 || this.#random.below(3) > 0) return;
    const name = this.#random.pick(candidates);
    const from = timing.now() + this.#random.below(60_000);
    world.blackouts.push({ name, from, until: from + this.#random.below(40_000) });
    this.told.push(`${name} cut off`);
  }

  /** What design.md promises of every moment; looked at whenever the engine says anything. */
  #watch(): void {
    const { world } = this.lab;
    if (world.bootstraps > 1) world.violations.push("etcd was started twice");
    for (const { name, version } of world.machines.values()) {
      const before = this.#newest.get(name) ?? version;
      if (minorOf(version) < minorOf(before)) world.violations.push(`${name} went back from ${before} to ${version}`);
      this.#newest.set(name, version);
    }
  }

  /** A person cordons a node, or uncordons one. */
  person(): void {
    const { world } = this.lab;
    const node = this.#random.pick([...world.machines.values()]).node;
    if (node === undefined || this.#random.below(4) > 0) return;
    Object.assign(node, { unschedulable: !node.unschedulable, ours: false });
    this.told.push(node.unschedulable ? "a person cordons" : "a person uncordons");
  }

  /**
   * Runs the engine, now and then killing it, until it has come through. A run that is not killed needs no second one,
   * and takes no longer than what it does: to wait for what is so already would take minutes.
   */
  async settle(): Promise<void> {
    const { world, timing } = this.lab;
    const cordoned = this.#cordonedByPersons();
    for (let attempt = 0; ; attempt++) {
      const kill = attempt < 3 && this.#random.below(3) > 0;
      const at = { deed: this.#random.below(12), when: this.#random.pick(["before", "after"] as const) };
      const { port } = kill ? killingPort(world.port(), at) : { port: world.port() };
      try {
        const events = () => this.#watch();
        const begun = timing.elapsed();
        await applyCluster({
          desired: this.desired(),
          secrets: testSecrets(),
          policy: defaultPolicy,
          machines: port,
          timing,
          events,
        });
        const silence = world.blackouts.reduce((sum, { from, until }) => sum + until - from, 0);
        const limit = perMachine * world.machines.size + silence;
        if (timing.elapsed() - begun > limit) world.violations.push(`a run took ${timing.elapsed() - begun} ms`);
        this.#checkCordons(cordoned);
        return;
      } catch (error) {
        if (!(error instanceof TalosError) || error.message !== "killed") throw error;
        this.told.push(`killed ${at.when} deed ${at.deed}`);
      }
    }
  }

  #cordonedByPersons(): readonly unknown[] {
    const nodes = [...this.lab.world.machines.values()].map(({ node }) => node);
    return nodes.filter((node) => node?.unschedulable && !node.ours);
  }

  /** A node that is deleted and registers again is another one. */
  #checkCordons(before: readonly unknown[]): void {
    const { world } = this.lab;
    for (const { name, node } of world.machines.values()) {
      const wished = before.includes(node);
      if (node !== undefined && node.unschedulable !== wished)
        world.violations.push(wished ? `${name} lost the cordon of a person` : `${name} was left cordoned`);
    }
  }

  #add(role: "controlplane" | "worker"): string {
    const name = `${role === "worker" ? "w" : "cp"}-${this.#names++}`;
    this.lab.world.add(name, role, this.#wish.talos);
    return name;
  }

  #leave(gone: string): void {
    const without = (names: readonly string[]) => names.filter((name) => name !== gone);
    this.#wish = {
      ...this.#wish,
      controlPlanes: without(this.#wish.controlPlanes),
      workers: without(this.#wish.workers),
    };
    this.#leaving = [gone];
  }
}

async function live(seed: number): Promise<void> {
  const history = new History(seed);
  const { world } = history.lab;
  try {
    for (let event = 0; event < 4; event++) {
      if (event > 0) history.next();
      history.trouble();
      history.person();
      await history.settle();
      expect(world.violations).toEqual([]);
      expect(world.bootstraps).toBe(1);
      const desired = history.desired();
      expect(plan(desired, await observe(desired, { machines: world.port() }), defaultPolicy)).toEqual([]);
    }
  } catch (error) {
    const replay = `TALOSMITH_SEED=${seed} npx vitest run test/engine/history.test.ts`;
    throw new Error(`seed ${seed}: ${history.told.join(", ")}\nreplay: ${replay}\n${error}`, { cause: error });
  }
}

describe("random lives of clusters", () => {
  const size = Math.ceil(seeds.length / 5);
  test.each(
    Array.from({ length: Math.ceil(seeds.length / size) }, (_, index) => seeds.slice(index * size, (index + 1) * size)),
  )(
    "beginning with seed %i end as wished, with one etcd, its quorum and never too many machines down",
    async (...batch) => {
      for (const seed of batch) await live(seed);
    },
    // A second for each is plenty, even beside other work.
    Math.max(600_000, size * 1000),
  );
});
