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
  /** Makes a component of a version that never becomes ready available, and every other component of that version. */
  breakComponent(component: string, version: string): readonly string[];
  /** Machines that were reset come back empty. */
  renew(): void;
  close(): void;
}

const address = (number: number) => `10.77.0.${number}`;

/** The lab of the program that TALOSMITH_REAL_LAB names. Throws where it is missing. */
export function realLab(program: string | undefined): Lab {
  if (program === undefined || !existsSync(program))
    throw new Error(
      `TALOSMITH_REAL_LAB: found ${program ?? "nothing"}, expected the path of a program with the subcommands up, start, stop, down, exec, patch, tag and break that runs real Talos nodes. No operation was run.`,
    );
  const lab = (...words: string[]): string => {
    // The nodes keep the output of `start` open: only a file or nothing can be waited for.
    const { status, stdout } = spawnSync(program, words, {
      stdio: ["ignore", words[0] === "patch" ? "pipe" : "ignore", "inherit"],
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`${program} ${words.join(" ")} ended with ${status}`);
    return stdout ?? "";
  };
  const wasUp = spawnSync(program, ["exec", "true"], { stdio: "ignore" }).status === 0;
  if (!wasUp) lab("up");
  const running = new Map<string, number>();
  const names = { controlPlane: "trial-cp1", worker: (number: number) => `trial-w${number}` };
  const power = (workers: number): void => {
    const wanted = new Map([[names.controlPlane, 12]]);
    for (let number = 1; number <= workers; number += 1) wanted.set(names.worker(number), 12 + number);
    for (const name of [...running.keys()].filter((each) => !wanted.has(each))) {
      lab("stop", name);
      running.delete(name);
    }
    for (const [name, host] of wanted) {
      if (running.has(name)) continue;
      lab("start", name, address(host));
      running.set(name, host);
    }
  };
  const stopAll = () => {
    for (const name of running.keys()) lab("stop", name);
    running.clear();
  };
  return {
    name: "real",
    within: [program, "exec"],
    machines: names,
    settings: { discovery: false, cni: { urls: ["http://10.77.0.1:5002/cni.yaml"] } },
    patches: [parse(lab("patch"))],
    environment: ({ workers }) => ({
      infrastructure: {
        kind: "metal",
        trustOnFirstUse: true,
        machines: Object.fromEntries([
          [names.controlPlane, { address: address(12), role: "controlplane" }],
          ...Array.from({ length: workers }, (_, index) => [
            names.worker(index + 1),
            { address: address(13 + index), role: "worker" },
          ]),
        ]),
      },
    }),
    power,
    breakComponent: (component, version) => {
      lab("tag", "v1.36.3", version);
      lab("break", component, version);
      return [];
    },
    renew: () => {
      const workers = running.size - 1;
      stopAll();
      power(workers);
    },
    close: () => {
      stopAll();
      if (!wasUp) lab("down");
    },
  };
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
