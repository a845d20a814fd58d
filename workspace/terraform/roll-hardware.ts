// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { type EngineOptions, hardwareOrder, withoutConfig, workOnHardware } from "../../engine/index.ts";
import type { ProgressListener } from "../planned-change.ts";
import type { Workspace } from "../workspace.ts";
import { type HardwareRollout, hardwareBatches, rolloutSentence } from "./hardware-batches.ts";

export interface RollOptions {
  readonly workspace: Workspace;
  readonly events: ProgressListener;
  /** How many steps of the engine come after the hardware; null when that is not known. */
  readonly coming: number | null;
  /** Plans what is of these addresses, calls `before` when the plan is found to be what was shown, and applies it. */
  readonly change: (addresses: readonly string[], before: () => Promise<void>) => Promise<void>;
  /** The Terraform state as it is now. */
  readonly state: () => Promise<string>;
}

/**
 * Changes machines batch by batch: drain, change, wait for their return, uncordon. May be killed anywhere and run again: what
 * is done is in no plan any more, and machines that were drained are finished first.
 */
export async function rollHardware(rollout: HardwareRollout, options: RollOptions): Promise<void> {
  const { workspace, events, change, state, coming } = options;
  const engine = { ...(await clusterOptions(workspace, memberAddresses(await state()))), events };
  const order = await hardwareOrder(engine);
  const changed = new Set(rollout.changes.map(({ name }) => name));
  const returned = [...order.drained].filter((name) => !changed.has(name));
  // libvirt's provider cuts the power; EC2 lets a machine shut down by itself.
  const before = workspace.environment.kind === "libvirt" ? "shut-down" : "take-down";
  const steps = order.stepsOf(before, [...changed]) + order.stepsOf("bring-back", [...changed, ...returned]);
  events({
    type: "planned",
    at: workspace.context.clock.now(),
    message: rolloutSentence(rollout),
    steps: [],
    coming: coming === null ? null : steps + coming,
  });
  if (returned.length > 0) await workOnHardware("bring-back", returned, engine);
  for (const batch of hardwareBatches(rollout, order)) {
    const names = batch.map(({ name }) => name);
    await change(
      batch.flatMap(({ addresses }) => addresses),
      () => workOnHardware(before, names, engine),
    );
    await workOnHardware("bring-back", names, withAddresses(engine, memberAddresses(await state())));
  }
}

/** Workers that join another environment's cluster are worked on in that one, with the care that their own file asks for. */
async function clusterOptions(workspace: Workspace, members: ReadonlyMap<string, string>): Promise<EngineOptions> {
  const { joined } = workspace;
  if (joined === undefined) return { ...(await workspace.engineOptions()), claim: workspace.claim };
  const { desired, secrets } = await joined.deployed();
  const planes = desired.machines.filter(({ role }) => role === "controlplane");
  const workers = [...members].map(([name, address]) => ({ name, address, role: "worker" as const, ...withoutConfig }));
  const machines = [...planes, ...workers];
  const options = joined.engineOptionsFor({ desired: { ...desired, machines, leaving: [] }, secrets });
  return { ...options, policy: workspace.policy, claim: joined.claim };
}

const memberState = z.object({
  resources: z.array(z.object({ type: z.string(), instances: z.array(z.object({ attributes: z.unknown() })) })),
});
const memberAttributes = z.object({ name: z.string(), address: z.string() });

/** Where machines are now: one that was stopped may have come back at another address, which its cluster does not know yet. */
function memberAddresses(state: string): ReadonlyMap<string, string> {
  const members = memberState.parse(JSON.parse(state)).resources.filter(({ type }) => type === "talosmith_member");
  return new Map(
    members
      .flatMap(({ instances }) => instances.map(({ attributes }) => memberAttributes.parse(attributes)))
      .map(({ name, address }) => [name, address]),
  );
}

function withAddresses(options: EngineOptions, addresses: ReadonlyMap<string, string>): EngineOptions {
  const { desired } = options;
  const machines = desired.machines.map((machine) => ({
    ...machine,
    address: addresses.get(machine.name) ?? machine.address,
  }));
  return { ...options, desired: { ...desired, machines } };
}
