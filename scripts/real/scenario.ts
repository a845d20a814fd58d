// SPDX-License-Identifier: Apache-2.0
// The same cluster's life on every lab: which steps were done, and what was there after each.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { expectCode } from "./checks.ts";
import { type Cluster, noMachines } from "./lab.ts";
import type { Project } from "./project.ts";

interface Phase {
  readonly name: string;
  readonly change: Partial<Cluster>;
  /** @default up */
  readonly command?: "destroy";
}

const phases: readonly Phase[] = [
  { name: "deploy", change: {} },
  { name: "change a config", change: { sysctl: 2 } },
  { name: "add a worker", change: { workers: 2 } },
  { name: "remove a worker", change: { workers: 1 } },
  { name: "upgrade Kubernetes", change: { kubernetes: "1.36.3" } },
  { name: "destroy", change: {}, command: "destroy" },
];

const condition = z.object({ type: z.string(), status: z.string(), reason: z.string() });
const status = z.object({
  conditions: z.array(condition),
  machines: z.array(
    z.object({
      name: z.string(),
      role: z.string(),
      stage: z.string(),
      ready: z.boolean(),
      talos: z.string(),
      kubelet: z.string(),
      etcd: z.string(),
      conditions: z.array(condition),
    }),
  ),
});
const metadata = z.object({ name: z.string(), labels: z.record(z.string(), z.string()).default({}) });
const list = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item) });
const nodes = list(
  z.object({
    metadata,
    spec: z.object({ taints: z.array(z.object({ key: z.string(), effect: z.string() })).default([]) }),
    status: z.object({
      conditions: z.array(z.object({ type: z.string(), status: z.string() })),
      nodeInfo: z.object({ kubeletVersion: z.string() }),
    }),
  }),
);
const pods = list(
  z.object({
    metadata,
    spec: z.object({ nodeName: z.string().optional(), containers: z.array(z.object({ image: z.string() })) }),
    status: z.object({
      phase: z.string(),
      conditions: z.array(condition.pick({ type: true, status: true })).default([]),
    }),
  }),
);

/** What one phase did, and what was there afterwards. Machines have the same names on every lab. */
export const observation = z.object({
  phase: z.string(),
  /** Each step of the journal that began, in that order. */
  begun: z.array(z.string()),
  /** Each step of the journal that ended, and how, by machine. */
  ended: z.record(z.string(), z.array(z.string())),
  conditions: z.array(z.string()),
  machines: z.record(z.string(), z.array(z.string())),
  nodes: z.record(z.string(), z.array(z.string())),
  pods: z.record(z.string(), z.string()),
});
export type Observation = z.infer<typeof observation>;

/** Runs all phases on an empty lab. Throws where one does not end well. */
export async function live(project: Project): Promise<readonly Observation[]> {
  const observed: Observation[] = [];
  for (const { name, change, command } of phases) {
    const before = journal(project).length;
    const shrinks = (change.workers ?? project.cluster.workers) < project.cluster.workers;
    if (shrinks) project.writeFile(change);
    else project.write(change);
    expectCode(await project.talosmith([command ?? "up", "trial", "-y"]), 0, name);
    project.lab.power(command === "destroy" ? noMachines : project.cluster);
    const steps = stepsIn(journal(project).slice(before));
    const there = command === "destroy" ? nothing : await whatIsThere(project);
    observed.push(withCommonNames({ phase: name, ...steps, ...there }));
  }
  return observed;
}

const entry = z.object({ step: z.string(), event: z.string() });
type Entry = z.infer<typeof entry>;

function journal({ root }: Project): readonly Entry[] {
  const file = join(root, "generated/trial/journal.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => entry.parse(JSON.parse(line))).filter(({ step }) => !step.startsWith("owner/"));
}

function stepsIn(entries: readonly Entry[]): Pick<Observation, "begun" | "ended"> {
  const ended: Record<string, string[]> = {};
  for (const { step, event } of entries) {
    if (event === "begun") continue;
    const [kind = "", machine = ""] = step.split("/");
    ended[machine] = [...(ended[machine] ?? []), `${kind} ${event}`];
  }
  return { begun: entries.flatMap(({ step, event }) => (event === "begun" ? [step] : [])), ended };
}

const nothing = { conditions: [], machines: {}, nodes: {}, pods: {} };
const conditionText = ({ type, status: value, reason }: z.infer<typeof condition>) => `${type} ${value} ${reason}`;

async function whatIsThere(project: Project): Promise<Omit<Observation, "phase" | "begun" | "ended">> {
  const said = expectCode(await project.talosmith(["status", "trial", "--json"]), 0, "status trial").stdout;
  const { conditions, machines } = status.parse(JSON.parse(said));
  const kubelets = nodes.parse(await project.kubernetes("/api/v1/nodes")).items;
  const system = pods.parse(await project.kubernetes("/api/v1/namespaces/kube-system/pods")).items;
  return {
    conditions: conditions.map(conditionText),
    machines: Object.fromEntries(
      machines.map(({ name, role, stage, ready, talos, kubelet, etcd, conditions: own }) => [
        name,
        [role, stage, ready ? "ready" : "not ready", talos, kubelet, etcd, ...own.map(conditionText)],
      ]),
    ),
    nodes: Object.fromEntries(
      kubelets.map(({ metadata: { name, labels }, spec: { taints }, status: { conditions: own, nodeInfo } }) => [
        name,
        [
          nodeInfo.kubeletVersion,
          ...own.map(({ type, status: value }) => `${type} ${value}`).sort(),
          // It stays for a moment after the node has become ready.
          ...taints
            .filter(({ key }) => key !== "node.kubernetes.io/not-ready")
            .map(({ key, effect }) => `taint ${key}:${effect}`)
            .sort(),
          ...Object.keys(labels).sort(),
        ],
      ]),
    ),
    pods: Object.fromEntries(
      system.map(({ metadata: { name }, spec, status: { phase, conditions: own } }) => {
        const ready = own.find(({ type }) => type === "Ready")?.status === "True" ? "ready" : "not ready";
        // The scheduler is free to choose the node of a Deployment's pod.
        const isPlaced = ofDeployment.test(name) || (spec.nodeName !== undefined && name.endsWith(spec.nodeName));
        const place = isPlaced ? "" : ` on ${spec.nodeName}`;
        return [`${withoutRandom(name)}${place}`, `${phase}, ${ready}, ${spec.containers[0]?.image}`];
      }),
    ),
  };
}

const ofDeployment = /-[0-9a-f]{8,10}-[a-z0-9]{5}$/;

/** The ends of names that sets and Deployments give their pods. */
const withoutRandom = (name: string) =>
  name.startsWith("kube-apiserver-") || /-(cp|w)-?\d+$/.test(name)
    ? name
    : name.replace(/(-[0-9a-f]{8,10})?-[a-z0-9]{5}$/, "");

/** `trial-cp1` of one lab is `trial-cp-1` of another. */
function withCommonNames(found: Observation): Observation {
  return observation.parse(JSON.parse(JSON.stringify(found).replaceAll(/\btrial-(cp|w)-?(\d)\b/g, "trial-$1-$2")));
}
