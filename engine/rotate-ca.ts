// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import { type CaRotation, nextBundle, type SecretsBundle } from "../talos/secrets/index.ts";
import { announce, applyCluster } from "./apply.ts";
import { bootstrapTarget, type ClusterSpec, type DesiredCluster } from "./desired.ts";
import type { EngineOptions } from "./engine.ts";
import { runSteps } from "./execute/run.ts";
import type { StepContext } from "./execute/step-context.ts";
import type { ConfiguredMachine, ObservedCluster } from "./observed.ts";
import { plan } from "./plan/plan.ts";
import { desiredCluster } from "./plan/rendering.ts";
import { type Policy, usesKubernetes } from "./policy.ts";
import { type Step, step } from "./step.ts";

/** One of the three passes over all machines; after each of them clients of both kinds get in. */
export interface RotationPass {
  readonly phase: CaRotation["phase"];
  readonly secrets: SecretsBundle;
  readonly desired: DesiredCluster;
}

/** The passes that are left, for a bundle in which an exchange has begun. */
export function rotationPasses(spec: ClusterSpec, secrets: SecretsBundle): readonly RotationPass[] {
  const passes: RotationPass[] = [];
  for (let bundle = secrets; bundle.rotation !== undefined; ) {
    passes.push({ phase: bundle.rotation.phase, secrets: bundle, desired: desiredCluster(spec, bundle) });
    const next = nextBundle(bundle);
    if (next === undefined) break;
    bundle = next;
  }
  return passes;
}

/** What each pass will do, if the one before it has done its work. Pure. */
export function planRotation(
  passes: readonly RotationPass[],
  observed: ObservedCluster,
  policy: Policy,
): readonly { readonly phase: CaRotation["phase"]; readonly steps: readonly Step[] }[] {
  let before = observed;
  return passes.map((pass) => {
    const { phase, desired } = pass;
    const restart = usesKubernetes(policy) ? restartStep(pass) : undefined;
    const steps = [...plan(desired, before, policy), ...(restart === undefined ? [] : [restart])];
    before = withConfigs(before, desired);
    return { phase, steps };
  });
}

/** Pods keep the CAs that they have read at their start. Undefined where the CA of Kubernetes stays. */
function restartStep({ phase, secrets, desired }: RotationPass): Step | undefined {
  // Talos gives the controller manager the CA that issues, and not the others that are accepted, to publish to pods.
  if (phase !== "issue" || secrets.rotation?.k8s === undefined) return undefined;
  return step({ kind: "restart-workloads", machine: bootstrapTarget(desired), ca: secrets.certs.k8s.certificate });
}

export interface RotateOptions extends Omit<EngineOptions, "desired" | "secrets"> {
  readonly passes: readonly RotationPass[];
  /** Keeps a bundle where the cluster's secrets are, before the first machine gets a config of it. */
  readonly save: (secrets: SecretsBundle) => Promise<void>;
  /** After each pass, when every machine has its config: the moment to renew what clients use. */
  readonly passed: (pass: RotationPass) => Promise<void>;
}

/**
 * Exchanges CAs without cutting anyone off: every machine accepts the new ones before the first one shows a certificate
 * of theirs, and all show those before the old ones are refused. The bundle tells how far it is, and each pass is an
 * apply like any other: killed anywhere, it goes on from there.
 */
export async function rotateCas({ passes, save, passed, ...options }: RotateOptions): Promise<SecretsBundle> {
  let last: SecretsBundle | undefined;
  for (const pass of passes) {
    await save(pass.secrets);
    const run = { ...options, desired: pass.desired, secrets: pass.secrets };
    const restart = usesKubernetes(options.policy) ? restartStep(pass) : undefined;
    // Before the cluster's health is waited for: kube-proxy has none until it trusts the new CA.
    const beforeHealth =
      restart &&
      (async (context: StepContext) => {
        announce([restart], context);
        await runSteps([restart], context);
      });
    await applyCluster({ ...run, ...given({ beforeHealth }) });
    await passed(pass);
    last = nextBundle(pass.secrets);
  }
  if (last === undefined) throw new TalosError("invalid-input", "no exchange of CAs has begun");
  await save(last);
  return last;
}

function withConfigs(observed: ObservedCluster, desired: DesiredCluster): ObservedCluster {
  const machines = [...observed.machines].map(([name, machine]) => {
    const config = desired.machines.find((other) => other.name === name)?.config;
    if (config === undefined || machine.state.kind !== "configured") return [name, machine] as const;
    const state: ConfiguredMachine = { ...machine.state, config };
    return [name, { ...machine, state }] as const;
  });
  return { ...observed, machines: new Map(machines) };
}
