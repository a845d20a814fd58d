// SPDX-License-Identifier: Apache-2.0

import { readFile, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { textIfThere, writeFileAtomically } from "../../talos/atomic-file.ts";
import { kubeconfigParts } from "../../talos/client-file.ts";
import { isAlive, type ProcessIdentity, processIdentity, sees } from "../../talos/living-process.ts";
import { jsonIn } from "../../talos/plain-text.ts";
import { lockFileFor, withLock } from "../lock/lock.ts";
import { endsWithin } from "./helm.ts";
import type { ReleaseId } from "./release.ts";

/**
 * Runs work on a release alone on this machine. Another living run is an error at once. A helm that a killed run has
 * left is ended first: it would go on, and undo what this run does. `started` is to be called with the pid of each helm
 * that changes something.
 */
export async function aloneOn<T>(
  { name, namespace }: ReleaseId,
  kubeconfig: string,
  work: (started: (pid: number) => void) => Promise<T>,
): Promise<T> {
  const file = lockFileFor(`helm ${await clusterOf(kubeconfig)} ${namespace}/${name}`);
  const note = `${file}.helm`;
  return withLock(file, { what: `add-on ${name}` }, async () => {
    await endAbandoned(note);
    let noted: Promise<unknown> = Promise.resolve();
    const started = (pid: number) => {
      noted = noted.then(() => noteHelm(note, pid)).catch(() => undefined);
    };
    try {
      return await work(started);
    } finally {
      await noted;
      await rm(note, { force: true });
    }
  });
}

/** The CA tells clusters apart, whichever of its addresses a kubeconfig has. */
async function clusterOf(kubeconfig: string): Promise<string> {
  try {
    return kubeconfigParts(await readFile(kubeconfig, "utf8")).caCertificate;
  } catch {
    // helm says what is wrong with the file.
    return kubeconfig;
  }
}

async function noteHelm(note: string, pid: number): Promise<void> {
  await writeFileAtomically(note, JSON.stringify(await processIdentity(pid)));
}

async function endAbandoned(note: string): Promise<void> {
  const helm = jsonIn((await textIfThere(note)) ?? "") as ProcessIdentity | undefined;
  // Where the system does not say when a process started, its number may be another's by now.
  if (helm === undefined || helm.started === "" || !(await sees(helm))) return;
  for (const [signal, patience] of [
    ["SIGTERM", endsWithin],
    ["SIGKILL", 5_000],
  ] as const) {
    if (!(await isAlive(helm))) return;
    process.kill(helm.pid, signal);
    const deadline = performance.now() + patience;
    while ((await isAlive(helm)) && performance.now() < deadline) await sleep(50);
  }
}
