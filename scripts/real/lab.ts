// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { parse } from "yaml";

export const labs = ["real", "simulator"] as const;
export type LabName = (typeof labs)[number];

/** What the environment file of the suite says. */
export interface Cluster {
  readonly kubernetes: string;
  readonly workers: number;
  /** The value of a setting that needs no reboot. */
  readonly sysctl: number;
  readonly addon: boolean;
}

/** Where the machines are, and how a program reaches them. */
export interface Lab {
  readonly name: LabName;
  /** Words before a program that talks to the machines. */
  readonly within: readonly string[];
  readonly machines: { readonly controlPlane: string; readonly worker: (number: number) => string };
  /** The parts of the environment file that belong to this lab. */
  environment(cluster: Cluster): Readonly<Record<string, unknown>>;
  /** Settings of the cluster that the machines of this lab need. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly patches: readonly unknown[];
  /** Powers the first n workers and the control plane on, and every other machine off. Machines that run are left alone. */
  power(workers: number): void;
  /**
   * Makes a version available of which one component never becomes ready. Returns words of a talosmith command that is
   * needed too; empty: none is.
   */
  breakComponent(component: string, version: string): readonly string[];
  /** Exchanges all machines for n empty workers and an empty control plane: a machine of the lab does not outlive a reset. */
  renew(workers: number): void;
  close(): void;
}

const address = (host: number) => `10.77.0.${host}`;
/** Hosts of the lab's network: the control plane, then the workers. Lower ones are left to trials by hand. */
const firstHost = 12;

/** The lab of the program that TALOSMITH_REAL_LAB names; a lab that is not up is brought up, and down again by `close`. */
class RealLab implements Lab {
  readonly name = "real";
  readonly machines = { controlPlane: "trial-cp1", worker: (number: number) => `trial-w${number}` };
  readonly settings = { discovery: false, cni: { urls: ["http://10.77.0.1:5002/cni.yaml"] } };
  readonly within: readonly string[];
  readonly patches: readonly unknown[];
  readonly #program: string;
  readonly #wasUp: boolean;
  readonly #running = new Set<string>();

  constructor(program: string) {
    this.#program = program;
    this.within = [program, "exec"];
    this.#wasUp = spawnSync(program, ["exec", "true"], { stdio: "ignore" }).status === 0;
    if (!this.#wasUp) this.#run("up");
    this.patches = [parse(this.#run("patch"))];
  }

  environment({ workers }: Cluster) {
    const machines = this.#names(workers).map((name, index) => {
      const role = index === 0 ? "controlplane" : "worker";
      return [name, { address: address(firstHost + index), role }] as const;
    });
    return { infrastructure: { kind: "metal", trustOnFirstUse: true, machines: Object.fromEntries(machines) } };
  }

  power(workers: number): void {
    const wanted = this.#names(workers);
    for (const name of [...this.#running]) if (!wanted.includes(name)) this.#stop(name);
    for (const [index, name] of wanted.entries()) {
      if (this.#running.has(name)) continue;
      this.#run("start", name, address(firstHost + index));
      this.#running.add(name);
    }
  }

  breakComponent(component: string, version: string): readonly string[] {
    this.#run("tag", "v1.36.3", version);
    this.#run("break", component, version);
    return [];
  }

  renew(workers: number): void {
    for (const name of [...this.#running]) this.#stop(name);
    this.power(workers);
  }

  close(): void {
    for (const name of [...this.#running]) this.#stop(name);
    if (!this.#wasUp) this.#run("down");
  }

  #names(workers: number): readonly string[] {
    const { controlPlane, worker } = this.machines;
    return [controlPlane, ...Array.from({ length: workers }, (_, index) => worker(index + 1))];
  }

  #stop(name: string): void {
    this.#run("stop", name);
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
export function realLab(program: string | undefined): Lab {
  if (program !== undefined && existsSync(program)) return new RealLab(program);
  throw new Error(
    `TALOSMITH_REAL_LAB: found ${program ?? "nothing"}, expected the path of a program that runs real Talos nodes, with the commands up, start, stop, down, exec, patch, tag and break. No operation was run.`,
  );
}

/** The simulator of the project itself. */
export function simulatedLab(): Lab {
  const names = { controlPlane: "trial-cp-1", worker: (number: number) => `trial-w-${number}` };
  return {
    name: "simulator",
    within: [],
    machines: names,
    settings: {},
    patches: [],
    environment: ({ workers }) => ({
      infrastructure: { kind: "simulated" },
      controlPlane: { count: 1 },
      workers: [{ name: "w", count: workers }],
    }),
    power: () => undefined,
    breakComponent: (component, version) => [
      "sim",
      "fault",
      names.controlPlane,
      JSON.stringify({ kind: "component-not-ready", component, version: version.slice(1) }),
    ],
    renew: () => undefined,
    close: () => undefined,
  };
}
