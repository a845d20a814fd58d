// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { oneLine } from "../../talos/plain-text.ts";
import type { DesiredMachine } from "../desired.ts";
import { type ClusterAccess, withContext } from "../engine.ts";
import type { StepContext } from "../execute/step-context.ts";
import { waitUntil, withElapsed } from "../execute/wait.ts";
import type { MachineHealth } from "../machines.ts";
import type { ObservedCluster } from "../observed.ts";
import { defaultPolicy, type Policy, usesKubernetes } from "../policy.ts";
import { type HealthCheck, type HealthView, healthChecks, type Verdict } from "./health-checks.ts";

/** What came of one health check, in the order in which they are made. */
export interface CheckResult {
  /** As `talosctl health` calls it, such as `etcd to be healthy`. */
  readonly name: string;
  readonly state: "waiting" | "ok" | "skipped" | "failed";
  /** What is still missing, machine by machine. */
  readonly reason?: string;
  /** It failed by what a person has set and only a person takes back, such as a cordon. */
  readonly byPerson?: true;
}

export interface HealthReport {
  readonly healthy: boolean;
  /** The last state of each check that was made. */
  readonly checks: readonly CheckResult[];
}

export interface HealthOptions extends ClusterAccess {
  /** What counts here is only whether Kubernetes can run: that a deploy is done before all is healthy is another question. */
  readonly policy: Pick<Policy, "healthLevel">;
  readonly onCheck?: (result: CheckResult) => void;
  /** False: look once and do not wait. @default true */
  readonly wait?: boolean;
}

/** Runs the checks of `talosctl health`, waiting for each; after the timeout the first one that is not met is named. */
export function checkHealth(options: HealthOptions): Promise<HealthReport> {
  const policy: Policy = { ...defaultPolicy, healthLevel: usesKubernetes(options.policy) ? "full" : "talos" };
  return withContext({ ...options, policy }, (context) => checkHealthIn(context, options));
}

/**
 * Healthy is what one look finds so as a whole: a condition that held while a later one was waited for may be lost since,
 * such as a node that a backup calls ready until its kubelet reports. So after a wait all are looked at again.
 */
export async function checkHealthIn(
  context: StepContext,
  { onCheck, wait = true }: Pick<HealthOptions, "onCheck" | "wait">,
): Promise<HealthReport> {
  const deadline = context.timing.elapsed() + context.timeouts.health;
  const last = new Map<string, CheckResult["state"]>();
  const tell = (result: CheckResult) => {
    const { name, state, reason } = result;
    // A check that is made again has something to tell only where it comes out differently.
    if (reason === undefined && last.has(name) && (state === "waiting" || state === last.get(name))) return;
    last.set(name, state);
    onCheck?.(named(result, context));
  };
  for (;;) {
    const { checks, waited } = await checkInOrder(context, { deadline, wait, tell });
    const failed = checks.some(({ state }) => state === "failed");
    if (failed || !waited) return { healthy: !failed, checks: checks.map((check) => named(check, context)) };
  }
}

interface Round {
  readonly deadline: number;
  readonly wait: boolean;
  readonly tell: (result: CheckResult) => void;
}

/** Every check once. `waited`: one of them did not hold at its first look. */
async function checkInOrder(
  context: StepContext,
  { deadline, wait, tell }: Round,
): Promise<{ readonly checks: readonly CheckResult[]; readonly waited: boolean }> {
  const checks: CheckResult[] = [];
  let waited = false;
  // One look serves all checks that it satisfies; only what is missing is looked at again.
  let view = viewOf(context);
  for (const check of healthChecks) {
    const { name, run } = check;
    if (isLeftOut(check, context.policy)) {
      checks.push({ name, state: "skipped" });
      tell({ name, state: "skipped" });
      continue;
    }
    tell({ name, state: "waiting" });
    let verdict: Verdict = { kind: "wrong", reason: "not checked yet" };
    const look = async () => {
      const used = view;
      view = viewOf(context);
      verdict = await run(used, context.signal);
      if (verdict.kind !== "wrong" || !wait) view = used;
      return verdict.kind === "wrong" && !verdict.byPerson ? verdict.reason : undefined;
    };
    const tellWaiting = (result: CheckResult) => {
      waited = true;
      tell(result);
    };
    const result = await (wait ? waitFor(look, name, deadline, context, tellWaiting) : once(look, name));
    const last = result ?? verdictOn(name, verdict);
    checks.push(last);
    tell(last);
    if (wait && last.state === "failed") break;
  }
  return { checks, waited };
}

/** A sentence about machines by their names, on one line. */
function named(result: CheckResult, { desired }: StepContext): CheckResult {
  if (result.reason === undefined) return result;
  return { ...result, reason: oneLine(withNames(result.reason, desired.machines)) };
}

function isLeftOut({ kubernetes, level }: HealthCheck, { healthLevel }: Policy): boolean {
  return healthLevel === "talos" ? kubernetes === true : healthLevel === "api" && level !== "api";
}

/** After all waiting: what is wrong still is so by a person. */
function verdictOn(name: string, verdict: Verdict): CheckResult {
  if (verdict.kind !== "wrong") return { name, state: verdict.kind === "skip" ? "skipped" : "ok" };
  return { name, state: "failed", reason: verdict.reason, byPerson: true };
}

async function waitFor(
  look: () => Promise<string | undefined>,
  name: string,
  deadline: number,
  context: StepContext,
  tell: (result: CheckResult) => void,
): Promise<CheckResult | undefined> {
  let last = "";
  try {
    await waitUntil(look, {
      timing: context.timing,
      signal: context.signal,
      timeout: Math.max(0, deadline - context.timing.elapsed()),
      what: name,
      silence: context.silence,
      onWaiting: (reason, waited) => {
        last = reason;
        tell({ name, state: "waiting", reason: withElapsed(reason, waited) });
      },
    });
    return undefined;
  } catch (error) {
    if (error instanceof TalosError && error.code === "deadline-exceeded")
      return { name, state: "failed", reason: last };
    throw error;
  }
}

async function once(look: () => Promise<string | undefined>, name: string): Promise<CheckResult | undefined> {
  try {
    const reason = await look();
    return reason === undefined ? undefined : { name, state: "failed", reason };
  } catch (error) {
    const ours = TalosError.from(error);
    if (ours.code === "canceled") throw ours;
    return { name, state: "failed", reason: ours.message };
  }
}

/** Within one look nothing is asked twice. */
function viewOf(context: StepContext): HealthView {
  let observed: Promise<ObservedCluster> | undefined;
  const health = new Map<string, Promise<MachineHealth>>();
  return {
    desired: context.desired,
    kubernetes: context.machines.kubernetes,
    observed: () => {
      observed ??= context.observe();
      return observed;
    },
    health: (machine) => {
      const known = health.get(machine.name) ?? askHealth(machine, context);
      health.set(machine.name, known);
      return known;
    },
  };
}

async function askHealth(machine: DesiredMachine, context: StepContext): Promise<MachineHealth> {
  context.unanswered.add(machine.name);
  try {
    return await context.machines.health(machine, context.signal);
  } finally {
    context.unanswered.delete(machine.name);
  }
}

/** A sentence in which each address of a machine stands behind the machine's name. */
export function withNames(text: string, machines: readonly Pick<DesiredMachine, "name" | "address">[]): string {
  let named = text;
  for (const { name, address } of machines) {
    const host = address.replace(/^([\d.]+):\d+$/, "$1");
    if (host === name || !named.includes(host)) continue;
    const pattern = host.replace(/[.[\]]/g, "\\$&");
    named = named.replace(new RegExp(`(?<![\\w.:(/])${pattern}(?![\\w.]*\\d)`, "g"), `${name} (${host})`);
  }
  return named;
}
