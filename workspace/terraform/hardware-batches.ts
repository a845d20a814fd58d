// SPDX-License-Identifier: Apache-2.0
import { type HardwareOrder, type Policy, unavailableLimit } from "../../engine/index.ts";
import { type HardwareChange, hardwareChanges, type Plan, type Review } from "../../review/index.ts";
import { TalosError } from "../../talos/errors.ts";

/** How machines that a plan stops are changed in turn. */
export interface HardwareRollout {
  readonly changes: readonly HardwareChange[];
  /** How many workers are changed side by side. */
  readonly limit: number;
  /** The address that the control planes share. @default - none */
  readonly vip?: string | undefined;
}

export function hardwareRollout(
  plan: Plan,
  policy: Policy,
  workers: number,
  vip: string | undefined,
): HardwareRollout | undefined {
  const changes = hardwareChanges(plan);
  return changes.length === 0 ? undefined : { changes, limit: unavailableLimit(policy, workers), vip };
}

/**
 * Control planes one by one, then workers: the first alone, so that a bad change is found on one. Machines that an earlier
 * run has drained come first, because no other may go down while they are away.
 */
export function hardwareBatches(
  { changes, limit }: HardwareRollout,
  { drained, holderLast }: Pick<HardwareOrder, "drained" | "holderLast">,
): readonly (readonly HardwareChange[])[] {
  const inOrder = [
    ...changes.filter(({ name }) => drained.has(name)),
    ...holderLast(changes.filter(({ name }) => !drained.has(name))),
  ];
  const [first, ...rest] = inOrder.filter(({ controlPlane }) => !controlPlane);
  const chunks = Array.from({ length: Math.ceil(rest.length / limit) }, (_, index) =>
    rest.slice(index * limit, (index + 1) * limit),
  );
  return [
    ...inOrder.filter(({ controlPlane }) => controlPlane).map((plane) => [plane]),
    ...(first === undefined ? [] : [[first]]),
    ...chunks,
  ];
}

/** The line of a plan that says how they are changed. */
export function rolloutSentence({ changes, limit, vip }: HardwareRollout): string {
  const named = (plane: boolean) =>
    changes.filter(({ controlPlane }) => controlPlane === plane).map(({ name }) => name);
  const [planes, workers] = [named(true), named(false)];
  const last = vip === undefined || planes.length < 2 ? "" : `, of the control planes the one with ${vip} last`;
  const sentence = (names: readonly string[], most: number, order = "") =>
    `${names.join(", ")}: hardware changes, ${most === 1 ? "one machine" : `up to ${most} machines`} at a time${order} (drain, change, wait until ready, uncordon)`;
  const most = Math.min(limit, workers.length);
  if (planes.length === 0 || most <= 1) return sentence([...planes, ...workers], Math.max(1, most), last);
  return `${sentence(planes, 1, last)}\n${sentence(workers, most)}`;
}

type Shown = Pick<Review, "resources" | "findings">;

/**
 * Refuses to apply what was not shown: another resource, another action, another attribute, another danger. With `targets`,
 * also what is of other machines: Terraform takes in what a target depends on.
 */
export function refuseUnshown(shown: Shown, now: Shown, targets: readonly string[] = []): void {
  const allowed = shown.resources.filter(({ address }) => targets.length === 0 || targets.includes(address));
  const known = new Map(allowed.map((resource) => [resource.address, resource]));
  const unshown = now.resources.filter(({ address, action, attributes, type }) => {
    const before = known.get(address);
    if (before?.action !== action) return true;
    // What the cluster is asked for is the same; its steps follow from what has changed meanwhile.
    return type !== "talosmith_cluster" && attributes.some((name) => !before.attributes.includes(name));
  });
  // A plan with targets has no members in it, which show whether a machine keeps its disk.
  const findings = targets.length === 0 ? now.findings : [];
  const dangers = findings.filter(
    ({ level, sentence }) => level === "danger" && !shown.findings.some((finding) => finding.sentence === sentence),
  );
  const news = [
    ...unshown.map(({ action, address }) => `${action} ${address}`),
    ...dangers.map((each) => each.sentence),
  ];
  if (news.length === 0) return;
  throw new TalosError("failed-precondition", `the plan is not what was shown any more: ${news.join(", ")}`, {
    hint: "Run the same command again: it plans, shows and asks again, and goes on with the machines that are left.",
  });
}
