// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { parse } from "yaml";

export const labs = ["real", "simulator"] as const;
export type LabName = (typeof labs)[number];

/** What the environment file of the suite says. */
export interface Cluster {
  readonly kubernetes: string;
  readonly controlPlanes: number;
  readonly workers: number;
  /** The value of a setting that needs no reboot. */
  readonly sysctl: number;
  readonly addon: boolean;
}

/** How many machines there are. */
export type Size = Pick<Cluster, "controlPlanes" | "workers">;

export const noMachines: Size = { controlPlanes: 0, workers: 0 };

/** Where the machines are, and how a program reaches them. */
export interface Lab {
  readonly name: LabName;
  /** Words before a program that talks to the machines. */
  readonly within: readonly string[];
  readonly machines: Readonly<Record<"controlPlane" | "worker", (number: number) => string>>;
  /** The parts of the environment file that belong to this lab. */
  environment(cluster: Cluster): Readonly<Record<string, unknown>>;
  /** Settings of the cluster that the machines of this lab need. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly patches: readonly unknown[];
  /** Powers the machines of a cluster of this size on, and every other one off. Machines that run are left alone. */
  power(size: Size): void;
  /**
   * Makes a version available of which one component never becomes ready. Returns words of a talosmith command that is
   * needed too; empty: none is.
   */
  breakComponent(component: string, version: string): readonly string[];
  /**
   * Empties all machines behind the cluster's back. Returns words of a talosmith command that is needed too; empty: none
   * is.
   */
  wipe(size: Size): readonly string[];
  close(): void;
}

type Role = "controlPlane" | "worker";
/** What runs on the lab: nodes and hosts of its own let both run at once. Lower hosts are left to trials by hand. */
export type Purpose = "trial" | "life";
const firstHosts: Readonly<Record<Purpose, Readonly<Record<Role, number>>>> = {
  trial: { controlPlane: 12, worker: 16 },
  life: { controlPlane: 20, worker: 24 },
};
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** The lab of the program that TALOSMITH_REAL_LAB names; a lab that is not up is brought up, and down again by `close`. */
class RealLab implements Lab {
  readonly name = "real";
  readonly machines = {
    controlPlane: (number: number) => `trial-cp${number}`,
    worker: (number: number) => `trial-w${number}`,
  };
  readonly settings = { discovery: false, cni: { urls: ["http://10.77.0.1:5002/cni.yaml"] } };
  readonly within: readonly string[];
  readonly patches: readonly unknown[];
  readonly #program: string;
  readonly #purpose: Purpose;
  readonly #wasUp: boolean;
  readonly #running = new Set<string>();

  constructor(program: string, purpose: Purpose) {
    this.#program = program;
    this.#purpose = purpose;
    this.within = [program, "exec"];
    this.#wasUp = spawnSync(program, ["exec", "true"], { stdio: "ignore" }).status === 0;
    if (!this.#wasUp) this.#run("up");
    this.patches = [parse(this.#run("patch"))];
  }

  environment(cluster: Cluster) {
    const machines = this.#machines(cluster).map(({ name, address, role }) => {
      return [name, { address, role: role === "worker" ? "worker" : "controlplane" }] as const;
    });
    return { infrastructure: { kind: "metal", trustOnFirstUse: true, machines: Object.fromEntries(machines) } };
  }

  power(size: Size): void {
    const wanted = this.#machines(size);
    for (const name of [...this.#running]) if (!wanted.some((each) => each.name === name)) this.#stop(name);
    for (const { name, address } of wanted) {
      if (this.#running.has(name)) continue;
      this.#run("start", this.#node(name), address);
      this.#running.add(name);
    }
  }

  breakComponent(component: string, version: string): readonly string[] {
    this.#run("tag", "v1.36.3", version);
    this.#run("break", component, version);
    return [];
  }

  wipe(size: Size): readonly string[] {
    this.power(noMachines);
    this.power(size);
    return [];
  }

  close(): void {
    this.power(noMachines);
    if (!this.#wasUp) this.#run("down");
  }

  #machines({ controlPlanes, workers }: Size) {
    const ofRole = (role: Role, count: number) =>
      numbers(count).map((number) => ({
        role,
        name: this.machines[role](number),
        address: `10.77.0.${firstHosts[this.#purpose][role] + number - 1}`,
      }));
    return [...ofRole("controlPlane", controlPlanes), ...ofRole("worker", workers)];
  }

  /** The lab's name of a machine. */
  #node(name: string): string {
    return name.replace(/^trial/, this.#purpose);
  }

  #stop(name: string): void {
    this.#run("stop", this.#node(name));
    this.#running.delete(name);
  }

  #run(...words: string[]): string {
    // Nodes and registry keep the output of the program that started them open: it would never end.
    const output = words[0] === "patch" ? "pipe" : "ignore";
    const ended = spawnSync(this.#program, words, { stdio: ["ignore", output, "inherit"], encoding: "utf8" });
    if (ended.status !== 0) throw new Error(`${this.#program} ${words.join(" ")} ended with ${ended.status}`);
    return ended.stdout ?? "";
  }
}

/** Throws where the program is missing. */
export function realLab(program: string | undefined, purpose: Purpose = "trial"): Lab {
  if (program !== undefined && existsSync(program)) return new RealLab(program, purpose);
  throw new Error(
    `TALOSMITH_REAL_LAB: found ${program ?? "nothing"}, expected the path of a program that runs real Talos nodes, with the commands up, start, stop, down, exec, patch, tag and break. No operation was run.`,
  );
}

/** The simulator of the project itself. */
export function simulatedLab(): Lab {
  const names = {
    controlPlane: (number: number) => `trial-cp-${number}`,
    worker: (number: number) => `trial-w-${number}`,
  };
  return {
    name: "simulator",
    within: [],
    machines: names,
    settings: {},
    patches: [],
    environment: ({ controlPlanes, workers }) => ({
      infrastructure: { kind: "simulated" },
      controlPlane: { count: controlPlanes },
      workers: [{ name: "w", count: workers }],
    }),
    power: () => undefined,
    breakComponent: (component, version) => [
      "sim",
      "fault",
      names.controlPlane(1),
      JSON.stringify({ kind: "component-not-ready", component, version: version.slice(1) }),
    ],
    wipe: ({ controlPlanes, workers }) => [
      ...["reset", "-e", "trial", "--graceful=false", "--reboot", "-y", "-n"],
      [...numbers(controlPlanes).map(names.controlPlane), ...numbers(workers).map(names.worker)].join(","),
    ],
    close: () => undefined,
  };
}
