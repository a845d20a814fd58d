// SPDX-License-Identifier: Apache-2.0
import type { ClusterView, HealthCheck, MachineHealth, OperationView } from "../../shared/wire.ts";
import { html } from "../html.ts";

type State = MachineHealth | HealthCheck["state"] | ClusterView["state"] | OperationView["state"];

/** Good, busy, bad or neither; the sign tells it to those who do not see the colour. */
const tones: Readonly<Record<State, readonly [tone: "good" | "busy" | "bad" | "idle", sign: string]>> = {
  ready: ["good", "●"],
  healthy: ["good", "●"],
  ok: ["good", "✓"],
  done: ["good", "✓"],
  starting: ["busy", "▲"],
  waiting: ["busy", "…"],
  changing: ["busy", "▲"],
  running: ["busy", "▶"],
  stopping: ["busy", "■"],
  maintenance: ["idle", "■"],
  planned: ["idle", "○"],
  skipped: ["idle", "–"],
  stopped: ["idle", "■"],
  ended: ["idle", "■"],
  "not deployed": ["idle", "○"],
  unknown: ["bad", "?"],
  unreachable: ["bad", "✕"],
  unhealthy: ["bad", "✕"],
  failed: ["bad", "✕"],
};

/** The sign alone, for where words beside it tell the same. */
export function sign(state: State) {
  const [tone, shape] = tones[state];
  return html`<span class=${tone}>${shape}</span>`;
}

export function mark(state: State) {
  const [tone, sign] = tones[state];
  return html`<span class=${`mark ${tone}`}><span aria-hidden="true">${sign}</span> ${state}</span>`;
}
