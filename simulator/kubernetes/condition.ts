// SPDX-License-Identifier: Apache-2.0
import { timestamp } from "./store.ts";

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly lastUpdateTime?: string;
}

/** The condition as it is now: its time moves only when its status does. */
export function conditionNow(
  status: unknown,
  now: number,
  wanted: Pick<Condition, "type" | "status" | "reason" | "message">,
): Condition {
  const known = conditionsOf(status).find((held) => held.type === wanted.type);
  if (known?.status === wanted.status && known.reason === wanted.reason) return { ...known, ...wanted };
  const at = timestamp(now);
  const since = known?.status === wanted.status ? known.lastTransitionTime : at;
  return { ...wanted, lastTransitionTime: since, lastUpdateTime: at };
}

function conditionsOf(status: unknown): readonly Condition[] {
  return (status as { conditions?: readonly Condition[] } | undefined)?.conditions ?? [];
}
