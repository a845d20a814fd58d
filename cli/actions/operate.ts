// SPDX-License-Identifier: Apache-2.0
import { setMaxListeners } from "node:events";
import { rmSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { inClusterAccess, kubernetesApi, kubernetesLease, systemTiming } from "../../engine/index.ts";
import { listEnvironments, loadEnvironment } from "../../model/index.ts";
import { operateObjects } from "../../operator/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { packageVersion } from "../../talos/own-files.ts";
import { temporaryFolder } from "../../talos/process-folder.ts";
import {
  type Log,
  openWatchedProject,
  operateAll,
  type QueueCounts,
  StatusRecord,
  serveOperator,
  whileLeading,
} from "../../watch/index.ts";
import { projectRoot } from "../../workspace/project.ts";
import type { CommandContext } from "../context.ts";
import { jsonLine } from "../output/table.ts";

export interface OperateFlags {
  readonly listen: { readonly host: string; readonly port: number };
  /** Absent: it works in any case. */
  readonly lease?: string;
  readonly repair: boolean;
  /** Clusters are objects of the Kubernetes API, not files. */
  readonly kubernetes: boolean;
  readonly allNamespaces: boolean;
  readonly data?: string;
  readonly json: boolean;
}

/** Runs until the signal fires, then comes to a safe point and returns. */
export async function operate(names: readonly string[], flags: OperateFlags, context: CommandContext): Promise<void> {
  const { signal } = context;
  refuseMixed(names, flags);
  const record = new StatusRecord();
  const log = logTo(flags.json, context);
  let queues: () => ReadonlyMap<string, QueueCounts> = () => new Map();
  const task: Task = { record, log, queues: (facts) => (queues = facts) };
  const work = flags.kubernetes ? await objectWork(flags, task, context) : fileWork(names, flags, task, context);
  const facts = () => ({ ...processFacts(), queues: queues() });
  const server = await serveOperator({ ...flags.listen, record, facts });
  log({ level: "info", event: "started", message: `metrics at ${server.address}/metrics` });
  setMaxListeners(0, signal);
  const onChange = (leading: boolean) => {
    record.leading = leading;
    // What somebody else looks after now is not ours to tell.
    if (!leading) for (const name of [...record.entries.keys()]) record.forget(name);
  };
  try {
    if (flags.lease === undefined) {
      record.leading = true;
      await work(signal);
    } else await withLease(flags.lease, work, { log, onChange, context });
  } finally {
    await server.close();
  }
  log({ level: "info", event: "stopped", message: "everything is at a safe point" });
}

interface Task {
  readonly record: StatusRecord;
  readonly log: Log;
  readonly queues: (facts: () => ReadonlyMap<string, QueueCounts>) => void;
}

type Work = (signal: AbortSignal) => Promise<void>;

function refuseMixed(names: readonly string[], flags: OperateFlags): void {
  const { kubernetes, allNamespaces, data, repair } = flags;
  const wrong = kubernetes
    ? [names.length > 0 && "names of environments", repair && "--repair"]
    : [allNamespaces && "--all-namespaces", data !== undefined && "--data"];
  for (const what of wrong)
    if (what)
      throw new TalosError("invalid-input", `${what} ${kubernetes ? "cannot be used with" : "needs"} --kubernetes`, {
        hint: "With --kubernetes, each TalosCluster says in spec.manage what is done.",
      });
}

function fileWork(names: readonly string[], flags: OperateFlags, { record, log }: Task, context: CommandContext): Work {
  const root = projectRoot(context.cwd, context.env);
  // An environment that is named must exist at the start; later its file may have faults, be removed and come back.
  for (const name of names) if (!listEnvironments(root).includes(name)) loadEnvironment(root, name);
  const project = openWatchedProject(root, names, context);
  const { entropy } = context;
  return (signal) => operateAll({ project, record, log, entropy, timing: systemTiming, repair: flags.repair, signal });
}

async function objectWork({ allNamespaces, data }: OperateFlags, task: Task, context: CommandContext): Promise<Work> {
  const { access, namespace } = await inClusterAccess(context.env);
  const { entropy, cwd } = context;
  return async (signal) => {
    const api = kubernetesApi(access);
    const folder = data === undefined ? temporaryFolder("objects") : resolve(cwd, data);
    const home = allNamespaces ? undefined : namespace;
    try {
      await operateObjects({ ...task, api, namespace: home, folder, context, entropy, timing: systemTiming, signal });
    } finally {
      api.close();
      if (data === undefined) rmSync(folder, { recursive: true, force: true });
    }
  };
}

/** The work while this process holds a Lease of the cluster and namespace that it runs in. */
async function withLease(
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
  { log, onChange, context }: { log: Log; onChange: (leading: boolean) => void; context: CommandContext },
): Promise<void> {
  const { access, namespace } = await inClusterAccess(context.env);
  const api = kubernetesApi(access);
  // A pod keeps its name over restarts of its container; the lease of the process before is waited for.
  const identity = `${hostname()}_${Buffer.from(context.entropy(4)).toString("hex")}`;
  const lease = kubernetesLease(api, namespace, name);
  try {
    await whileLeading(work, { lease, identity, timing: systemTiming, log, onChange, signal: context.signal });
  } finally {
    api.close();
  }
}

function processFacts() {
  const { user, system } = process.cpuUsage();
  return {
    version: packageVersion(),
    residentBytes: process.memoryUsage.rss(),
    startedAt: Math.round(performance.timeOrigin),
    cpuSeconds: (user + system) / 1e6,
  };
}

const marks = { info: "", warning: "Warning: ", error: "Error: " } as const;

function logTo(json: boolean, { stdout, stderr, clock }: CommandContext): Log {
  return ({ level, event, environment, machine, message }) => {
    const at = clock.now().toISOString();
    if (json) {
      stdout.write(jsonLine({ v: 1, at, level, event, environment, machine, message }));
      return;
    }
    const about = [environment, machine].filter((part) => part !== undefined).map((part) => `${part}: `);
    stderr.write(`${at} ${marks[level]}${about.join("")}${message}\n`);
  };
}
