// SPDX-License-Identifier: Apache-2.0
import {
  checkOwner,
  isCertificateFault,
  type Preview,
  planRotation,
  previewCluster,
  type RotationPass,
  rotateCas,
  rotationPasses,
  systemTiming,
  waitUntil,
  withLock,
} from "../../engine/index.ts";
import { type Environment, firstContactOf } from "../../model/index.ts";
import { passesText } from "../../review/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { beginRotation, caFingerprint, type SecretsBundle } from "../../talos/secrets/index.ts";
import { counted } from "../../workspace/amounts.ts";
import { windowNotice } from "../../workspace/rollout.ts";
import type { PlacedStore } from "../../workspace/secrets.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { type ApprovalFlags, approvedFor } from "../ask.ts";
import type { CommandContext } from "../context.ts";
import { styleOf } from "../output/colors.ts";
import { withProgress, withStatus } from "../output/progress.ts";
import { jsonText } from "../output/table.ts";
import { wrapped } from "../output/wrap.ts";
import { showManager } from "./change.ts";
import { endDryRun } from "./plan.ts";

interface RotateCaFlags extends ApprovalFlags {
  readonly dryRun: boolean;
  readonly talos: boolean;
  readonly kubernetes: boolean;
  readonly ageRecipient: readonly string[];
  readonly json: boolean;
}

const words: Readonly<Record<RotationPass["phase"], string>> = {
  accept: "1. All machines accept the new CAs and the old ones",
  issue: "2. The new CAs issue; the old ones are still accepted",
  drop: "3. The old CAs are not accepted any more",
};

/** Exchanges CAs: first into where the secrets are kept, then onto the machines, pass by pass. */
export async function rotateCa(name: string, flags: RotateCaFlags, context: CommandContext): Promise<void> {
  const workspace = openWorkspace(name, context);
  const { environment, clientFiles, claim } = workspace;
  refuseScaling(environment);
  const cluster = await workspace.deployed();
  await showManager(workspace, flags, context);
  const seeds = seedNotice(environment);
  if (seeds !== undefined) context.stderr.write(`${seeds}\n`);
  const kept = await workspace.secrets.present(flags.ageRecipient);
  const patience = kept.inCluster ? untilTrusted(context) : justOnce;
  // By what stays the same, so that a second run does not begin another exchange.
  await withLock(`${workspace.secrets.file}.lock`, { what: "exchange of CAs" }, async () => {
    const secrets = (await workspace.secrets.readAgain()) ?? cluster.secrets;
    const begun = secrets.rotation === undefined ? begin(secrets, flags, context) : secrets;
    const passes = rotationPasses(cluster.spec, begun);
    const options = workspace.engineOptionsFor({ desired: cluster.desired, secrets });
    const preview = await withStatus(context, `Planning ${name}`, () => previewCluster(options));
    if (secrets.rotation === undefined) refuseUnfinished(name, preview);
    else context.stderr.write(`An exchange of CAs is under way (${secrets.rotation.phase}); it is taken up there.\n`);
    const planned = planRotation(passes, preview.observed, options.policy);
    const names = cluster.desired.machines.map(({ name: machine }) => machine);
    showPasses(planned, names, flags, context);
    const steps = planned.flatMap((pass) => pass.steps);
    const notice = windowNotice(
      environment,
      steps.map(({ sentence }) => sentence),
      context.clock.now(),
    );
    if (notice !== undefined) context.stderr.write(`${notice}\n`);
    if (flags.dryRun) {
      endDryRun(commandOf(name, flags), context);
      return;
    }
    await checkOwner({ ...options, claim });
    const question = `Exchange the CAs of ${name}? Copies of the client files stop working; distribute the new ones.`;
    if (!(await approvedFor(environment, question, flags, context))) return;
    const done = await withProgress(context, { json: flags.json, title: name }, (events) => {
      // Each pass plans its own steps when the one before it is done.
      const message = `${counted(steps.length, "step")} to do`;
      events({ type: "planned", at: context.clock.now(), message, steps: [], coming: steps.length });
      return rotateCas({
        ...options,
        events,
        claim,
        passes,
        save: saverOf(kept, secrets, patience),
        // Files that trust both CAs are there before the first machine shows a certificate of the new one.
        passed: ({ desired, secrets: now }) => patience(() => clientFiles.ensure(desired, now)),
      });
    });
    context.stderr.write(
      `The CAs of ${name} are new; the Talos CA has the fingerprint ${caFingerprint(done)}. Hand out new client files, and back up ${kept.place}.\n`,
    );
  });
}

function commandOf(name: string, { talos, kubernetes, ageRecipient }: RotateCaFlags): string {
  const switches = [!talos && "--talos=false", !kubernetes && "--kubernetes=false"].filter((word) => word !== false);
  const recipients = ageRecipient.map((recipient) => `--age-recipient ${recipient}`);
  return ["rotate-ca", name, "--dry-run=false", ...switches, ...recipients].join(" ");
}

type PlannedPasses = ReturnType<typeof planRotation>;

/** What an exchange does. For programs, the progress has it, too, where it is not only planned. */
function showPasses(
  planned: PlannedPasses,
  machines: readonly string[],
  { dryRun, json }: RotateCaFlags,
  context: CommandContext,
): void {
  if (json && !dryRun) return;
  if (json) {
    const passes = planned.map(({ phase, steps }) => ({
      phase,
      steps: steps.map(({ id, sentence, machine }) => ({ id, sentence, ...given({ machine }) })),
    }));
    context.stdout.write(jsonText({ v: 1, passes }));
    return;
  }
  const passes = planned.map(({ phase, steps }) => ({
    title: words[phase],
    steps: steps.map(({ sentence }) => sentence),
  }));
  const out = dryRun ? context.stdout : context.stderr;
  out.write(wrapped(`\n${passesText(passes, machines, styleOf(out, context))}${dryRun ? "" : "\n"}`, out.columns));
}

/** A machine that its group starts during the exchange boots with the old CAs. */
function refuseScaling(environment: Environment): void {
  if (environment.kind !== "aws") return;
  const pools = environment.workers.flatMap((pool) => (pool.scaling === undefined ? [] : [pool.name]));
  if (pools.length === 0) return;
  throw new TalosError("failed-precondition", `the machines of ${pools.join(", ")} would be cut off: scaling is set`, {
    hint: `A machine that its auto scaling group starts during the exchange boots with the old CAs. Drain the machines of these pools, remove the pools, deploy, rotate, and add them again: new machines start with the new CAs.`,
  });
}

/** What user-data and seeds still hold after an exchange. Undefined where machines have none. */
export function seedNotice(environment: Environment): string | undefined {
  if (!firstContactOf(environment).byUserData) return undefined;
  return `Machines of ${environment.name} read their config from user-data when they have lost it. Existing user-data keeps the old CAs: run talosmith deploy ${environment.name} right after this, and replace a machine instead of resetting its STATE partition.`;
}

function begin(secrets: SecretsBundle, { talos, kubernetes }: RotateCaFlags, context: CommandContext): SecretsBundle {
  const chosen = { os: talos, k8s: kubernetes };
  const cas = (["os", "k8s"] as const).filter((ca) => chosen[ca]);
  if (cas.length === 0)
    throw new TalosError("invalid-input", "nothing to exchange: both --talos and --kubernetes are off", {
      hint: "Leave one of the two switches on.",
    });
  return beginRotation(secrets, { cas, clock: context.clock, entropy: context.entropy });
}

/** Other changes are no business of an exchange, and would be made without anyone having been asked. */
function refuseUnfinished(name: string, { steps, observed }: Preview): void {
  const silent = [...observed.machines.values()].filter(({ state }) => state.kind !== "configured");
  if (silent.length > 0)
    throw new TalosError(
      "failed-precondition",
      `${silent.map((machine) => machine.name).join(", ")} cannot be reached`,
      { hint: "Every machine must get the new CAs before the old ones go. Heal it, or let it leave." },
    );
  if (steps.length > 0)
    throw new TalosError("failed-precondition", `${name} is not up to date: ${steps[0]?.sentence}`, {
      hint: `Deploy it first: talosmith deploy ${name}`,
    });
}

/** Keeps one bundle after the other, each only where the one before it still is. */
function saverOf({ store }: PlacedStore, known: SecretsBundle, patience: Patience) {
  let last = known;
  return async (next: SecretsBundle): Promise<void> => {
    await patience(() => store.exchange(last, next));
    last = next;
  };
}

type Patience = (work: () => Promise<unknown>) => Promise<void>;

const justOnce: Patience = async (work) => {
  await work();
};

/** A kubelet looks after the CAs in its pods about once a minute. */
const longestRefresh = 5 * 60_000;

/**
 * A pod that keeps the bundle in a Secret of the same cluster sees the API server with its new certificate a while
 * before it gets the new CA.
 */
function untilTrusted(context: CommandContext): Patience {
  return (work) =>
    waitUntil(
      async () => {
        try {
          await work();
          return undefined;
        } catch (error) {
          const known = TalosError.from(error);
          if (!isCertificateFault(known)) throw error;
          return known.message;
        }
      },
      {
        timing: systemTiming,
        timeout: longestRefresh,
        what: "keep the secrets and client files in the cluster",
        signal: context.signal,
      },
    );
}
