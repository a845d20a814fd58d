// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { projectSimulator } from "../../workspace/simulator.ts";
import type { InterruptedProject, Interruption, Moment } from "./interrupted-project.ts";

export type Path = "alone" | "terraform";

/** What the environment file says. Versions are patch releases: there is always a next one. */
export interface Cluster {
  readonly talos: number;
  readonly kubernetes: number;
  readonly controlPlanes: number;
  readonly workers: number;
  readonly sysctl: number;
  readonly file: number;
  readonly addon: number;
}

export const firstCluster: Cluster = {
  talos: 1,
  kubernetes: 1,
  controlPlanes: 3,
  workers: 2,
  sysctl: 1,
  file: 1,
  addon: 1,
};
const small = { controlPlanes: 1, workers: 1 };
const large = { controlPlanes: 3, workers: 2 };

export function environmentText(cluster: Cluster): string {
  const { talos, kubernetes, controlPlanes, workers, sysctl, file, addon } = cluster;
  const machine = {
    sysctls: { "vm.max_map_count": String(262144 + sysctl) },
    files: [{ path: "/var/etc/interrupted", op: "create", permissions: 0o600, content: String(file) }],
  };
  return JSON.stringify({
    infrastructure: { kind: "simulated" },
    cluster: {
      talosVersion: `v1.13.${talos}`,
      kubernetesVersion: `1.36.${kubernetes}`,
      patches: { all: [{ machine }] },
    },
    controlPlane: { count: controlPlanes },
    workers: [{ name: "w", count: workers }],
    backup: { directory: "backups/local" },
    addons: [{ name: "app", namespace: "apps", chart: "./charts/app", values: { revision: addon } }],
  });
}

export interface Operation {
  readonly name: string;
  /** Kinds of the steps in its journal, in their order. */
  readonly kinds: Readonly<Partial<Record<Path, readonly string[]>>>;
  /** What must be there before; undefined: nothing. */
  readonly before?: (cluster: Cluster) => Cluster;
  /** Makes ready what the file does not say. */
  readonly prepare?: (project: InterruptedProject) => Promise<void>;
  /** What the file says afterwards; undefined: the cluster is gone. */
  readonly after?: (cluster: Cluster) => Cluster;
  readonly command?: (path: Path, after: Cluster) => readonly string[];
  /** In which folder of the project it is typed. */
  readonly folder?: string;
  /** @default an entry of the journal */
  readonly moment?: (kind: string) => Moment;
  /** Kinds that are not in every run of it. */
  readonly sometimes?: readonly string[];
  readonly newSecrets?: true;
}

type Event = "begun" | "finished";

const same = (cluster: Cluster) => cluster;
const deploy = (path: Path) => (path === "alone" ? ["up", "local", "--yes"] : ["deploy", "local", "--yes"]);
const stack = "cdktf.out/stacks/local";

async function removeMachine(project: InterruptedProject, name: string): Promise<void> {
  const simulator = projectSimulator(project.root);
  const found = (await simulator.listMachines()).find((machine) => machine.name === name);
  if (found !== undefined) await simulator.deleteMachine(found.id);
}

export const journalFile = "generated/local/journal.jsonl";

export const kindOf = (line: string): string =>
  (JSON.parse(line) as { readonly step: string }).step.split("/")[0] ?? "";

/** The first entry of a kind of step; `kind#7` is the seventh. */
function inJournal(kind: string, event: Event): Moment {
  const [name, nth = "1"] = kind.split("#");
  const when = (line: string) => kindOf(line) === name && line.includes(`"event":"${event}"`);
  return { file: journalFile, when, nth: Number(nth) };
}

/** A call of helm, which the journal does not know. */
function ofHelm(command: string): Moment {
  const when = (line: string) => (JSON.parse(line) as { readonly argv: readonly string[] }).argv[0] === command;
  return { file: "releases.json.calls", when, nth: 1 };
}

const rollout = ["drain", "apply-config", "uncordon"];
const components = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet"];
const both = (kinds: readonly string[]) => ({ alone: kinds, terraform: kinds });

/** In an order in which each leaves mostly what the next one needs. */
const operations: readonly Operation[] = [
  {
    name: "config change without reboot",
    kinds: both(["apply-config"]),
    before: same,
    after: (cluster) => ({ ...cluster, sysctl: cluster.sysctl + 1 }),
  },
  {
    name: "config change with reboot",
    kinds: both(rollout),
    before: same,
    after: (cluster) => ({ ...cluster, file: cluster.file + 1 }),
  },
  {
    name: "Talos upgrade",
    kinds: both(["pull-installer", "drain", "upgrade-talos", "apply-config", "uncordon"]),
    before: same,
    after: (cluster) => ({ ...cluster, talos: cluster.talos + 1 }),
    command: (_, { talos }) => ["upgrade", "talos", "local", "--to", `v1.13.${talos}`, "--yes"],
  },
  {
    name: "Kubernetes upgrade",
    kinds: both(["pull-images", ...components.map((component) => `upgrade-${component}`), "sync-manifests"]),
    before: same,
    after: (cluster) => ({ ...cluster, kubernetes: cluster.kubernetes + 1 }),
    command: (_, { kubernetes }) => ["upgrade", "k8s", "local", "--to", `1.36.${kubernetes}`, "--yes"],
  },
  {
    name: "rotate-ca",
    // In each of the three passes every machine gets a config.
    kinds: both(["apply-config", "apply-config#7", "apply-config#12"]),
    before: same,
    after: same,
    command: () => ["rotate-ca", "local", "--dry-run=false", "--yes"],
    newSecrets: true,
  },
  {
    name: "restore",
    kinds: both(["wipe-etcd", "restore-etcd"]),
    before: same,
    prepare: async (project) => {
      const { code, said } = await project.run(["talosmith", "backup", "create", "local"]);
      if (code !== 0) throw new Error(said);
    },
    after: same,
    sometimes: ["restore"],
    command: () => ["restore", "local", "--from", "latest", "--discard-data", "--yes"],
  },
  {
    name: "add-on",
    kinds: both(["upgrade"]),
    before: same,
    after: (cluster) => ({ ...cluster, addon: cluster.addon + 1 }),
    moment: ofHelm,
  },
  {
    name: "replace of a machine that is gone",
    kinds: both(["remove-etcd-member", "apply-config"]),
    before: same,
    prepare: (project) => removeMachine(project, "local-cp-2"),
    after: same,
    sometimes: ["delete-node"],
  },
  {
    name: "replace by -replace",
    kinds: { terraform: ["reset", "apply-config"] },
    before: same,
    after: same,
    folder: stack,
    command: () => [
      "apply",
      "-input=false",
      "-auto-approve",
      '-replace=talosmith_simulated_machine.control_plane["cp-2"]',
    ],
    sometimes: ["drain", "forfeit-leadership", "delete-node", "remove-etcd-member"],
  },
  {
    name: "scale down",
    kinds: both(["drain", "reset", "delete-node"]),
    before: (cluster) => ({ ...cluster, ...large }),
    after: (cluster) => ({ ...cluster, ...small }),
    sometimes: ["forfeit-leadership"],
  },
  {
    name: "scale up",
    kinds: both(["apply-config"]),
    before: (cluster) => ({ ...cluster, ...small }),
    after: (cluster) => ({ ...cluster, ...large }),
  },
  {
    name: "destroy",
    kinds: both(["reset"]),
    before: same,
    command: () => ["destroy", "local", "--yes"],
  },
  {
    name: "first deploy",
    kinds: both(["apply-config", "bootstrap-etcd"]),
    prepare: async (project) => {
      for (const name of ["secrets", "generated", "state", "backups", "cdktf.out"])
        rmSync(project.path(name), { recursive: true, force: true });
    },
    after: same,
  },
];

export function commandOf(operation: Operation, path: Path, after: Cluster, tool: string): readonly string[] {
  const words = operation.command?.(path, after) ?? deploy(path);
  return operation.folder === undefined ? ["talosmith", ...words] : [tool, ...words];
}

export const deployCommand = (path: Path): readonly string[] => ["talosmith", ...deploy(path)];
export const destroyCommand = (path: Path): readonly string[] =>
  path === "alone" ? ["talosmith", "down", "local", "--yes"] : ["talosmith", "destroy", "local", "--yes"];

export interface Case extends Interruption {
  /** For people, and to be told from others. */
  readonly id: string;
  readonly operation: Operation;
  readonly path: Path;
}

/** Each kind of step of each operation, once per signal; the seed chooses the process that is hit, and the entry. */
export function casesOf(path: Path, seed: string): Case[] {
  return operations.flatMap((operation) =>
    (operation.kinds[path] ?? []).flatMap((kind) =>
      (["SIGINT", "SIGKILL"] as const).map((signal): Case => {
        const pick = <T>(of: readonly T[], what: string): T =>
          chosen(of, [seed, path, operation.name, kind, signal, what]);
        const event = operation.moment === undefined ? pick(["begun", "finished"] as const, "event") : "begun";
        const at = operation.moment?.(kind) ?? inJournal(kind, event);
        // Terraform typed by hand has no talosmith over it; rotate-ca and restore have no terraform under them.
        const top = operation.folder === undefined ? "talosmith" : "terraform";
        const alone = path === "alone" || operation.name === "rotate-ca" || operation.name === "restore";
        const processes = [...new Set([top, "terraform", "provider"] as const)];
        const whom = alone || signal === "SIGINT" ? top : pick(processes, "whom");
        const group = signal === "SIGINT" && pick([true, false], "group");
        const id = `${operation.name}, ${path}: ${signal} of ${whom}${group ? "'s group" : ""} at ${kind} ${event}`;
        return { id, operation, path, at, signal, whom, group };
      }),
    ),
  );
}

/** The same for the same words. */
export function chosen<T>(of: readonly T[], words: readonly string[]): T {
  const number = createHash("sha256").update(words.join("\n")).digest().readUInt32BE();
  return of[number % of.length] as T;
}
