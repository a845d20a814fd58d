// SPDX-License-Identifier: Apache-2.0
import { setMaxListeners } from "node:events";
import { hostname } from "node:os";
import { inClusterAccess, kubernetesApi, kubernetesLease, systemTiming } from "../../engine/index.ts";
import { listEnvironments, loadEnvironment } from "../../model/index.ts";
import { packageVersion } from "../../talos/own-files.ts";
import {
  type Log,
  openWatchedProject,
  operateAll,
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
  readonly json: boolean;
}

/** Runs until the signal fires, then comes to a safe point and returns. */
export async function operate(names: readonly string[], flags: OperateFlags, context: CommandContext): Promise<void> {
  const { signal, entropy } = context;
  const root = projectRoot(context.cwd, context.env);
  // Whoever names one means one that is there; its file may have faults, and go and come back later.
  for (const name of names) if (!listEnvironments(root).includes(name)) loadEnvironment(root, name);
  const record = new StatusRecord();
  const log = logTo(flags.json, context);
  const server = await serveOperator({ ...flags.listen, record, facts: processFacts });
  log({ level: "info", event: "started", message: `metrics at ${server.address}/metrics` });
  setMaxListeners(0, signal);
  const project = openWatchedProject(root, names, context);
  const work = (within: AbortSignal) =>
    operateAll({ project, record, log, entropy, timing: systemTiming, repair: flags.repair, signal: within });
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
