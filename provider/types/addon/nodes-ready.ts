// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from "node:timers/promises";
import { endpointAt } from "../../../talos/endpoint-at.ts";
import type { Client } from "../client.ts";

const pause = 1_000;

/** Waits until every node of the cluster is ready, for as long as the signal allows. */
export async function nodesReady(client: Client, endpoints: readonly string[], signal: AbortSignal): Promise<void> {
  const [{ parseAddress }, { talosMachines }, { TalosError }] = await Promise.all([
    import("../../../talos/api/index.ts"),
    import("../../../engine/index.ts"),
    import("../../../talos/errors.ts"),
  ]);
  const controlPlanes = endpoints.map((address) => ({ name: address, role: "controlplane", address }) as const);
  const desired = { endpoint: endpointAt(parseAddress(endpoints[0] ?? "").host), machines: controlPlanes };
  const machines = talosMachines({ desired, secrets: await client.secrets.of(null) });
  let missing = "they were not looked at yet";
  try {
    while (!signal.aborted) {
      const seen = await machines.kubernetes.observe(signal);
      const waiting = seen.kind === "reachable" ? seen.nodes.filter(({ ready }) => !ready) : [];
      if (seen.kind === "reachable" && seen.nodes.length > 0 && waiting.length === 0) return;
      missing = seen.kind === "unreachable" ? seen.reason : `${waiting.map(({ name }) => name).join(", ")} not ready`;
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  } finally {
    machines.close();
  }
  throw new TalosError(
    "deadline-exceeded",
    `the pod network is installed, but the nodes did not become ready: ${missing}`,
  );
}
