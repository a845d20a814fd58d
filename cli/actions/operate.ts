// SPDX-License-Identifier: Apache-2.0
import { setMaxListeners } from "node:events";
import { Book, type Log, operateAll, serveOperator } from "../../operate/index.ts";
import { systemTiming } from "../../talos/cluster/index.ts";
import type { CommandContext } from "../context.ts";
import { projectSite } from "../helper/operate-site.ts";
import { packageVersion } from "../package-version.ts";
import { projectRoot } from "../project-root.ts";

export interface OperateFlags {
  readonly listen: { readonly host: string; readonly port: number };
  readonly repair: boolean;
  readonly json: boolean;
}

/** Runs until the signal fires, then comes to a safe point and returns. */
export async function operate(names: readonly string[], flags: OperateFlags, context: CommandContext): Promise<void> {
  const { signal, entropy } = context;
  const root = projectRoot(context.cwd, context.env);
  const book = new Book();
  const log = logTo(flags.json, context);
  const server = await serveOperator({ ...flags.listen, book, facts: processFacts });
  log({ level: "info", event: "started", message: `metrics at ${server.address}/metrics` });
  setMaxListeners(0, signal);
  try {
    book.leading = true;
    await operateAll({
      site: projectSite(root, names, context),
      ...{ book, log, entropy, signal },
      timing: systemTiming,
      repair: flags.repair,
    });
  } finally {
    await server.close();
  }
  log({ level: "info", event: "stopped", message: "everything is at a safe point" });
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
      stdout.write(`${JSON.stringify({ v: 1, at, level, event, environment, machine, message })}\n`);
      return;
    }
    const about = [environment, machine].filter((part) => part !== undefined).map((part) => `${part}: `);
    stderr.write(`${at} ${marks[level]}${about.join("")}${message}\n`);
  };
}
