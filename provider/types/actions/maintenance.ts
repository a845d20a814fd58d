// SPDX-License-Identifier: Apache-2.0
import type { EventListener, Maintenance } from "../../../engine/index.ts";
import { rolloutSettings } from "../../../model/settings/index.ts";
import {
  type Action,
  type ActionRequest,
  type Attributes,
  attribute,
  DiagnosticError,
  path,
} from "../../framework/index.ts";
import { adminOf } from "../access.ts";
import type { Client } from "../client.ts";
import { policyOf } from "../cluster/spec.ts";
import { runOptions, whenFree } from "../engine-run.ts";
import { clusterAsKnownBy, firstAnswer } from "../known-cluster.ts";
import { removalClaim } from "../ownership.ts";
import { attributesOf } from "../setting-attributes.ts";
import { controlPlaneAddresses } from "../value-rules.ts";

const attributes = {
  endpoints: controlPlaneAddresses,
  machine: attribute.required.string("Name of the machine."),
  rollout: attribute.optional.nestedObject(
    "How careful to be, as in the machine's `talosmith_cluster`.",
    attributesOf(rolloutSettings),
  ),
} satisfies Attributes;

type Schema = typeof attributes;

export const reboot = maintenance(
  "reboot",
  "Drains a machine, reboots it, waits until it is back, and uncordons it. Waits for maintenance windows and gates of `rollout`, and refuses where etcd would lose its quorum.",
);
export const drain = maintenance(
  "drain",
  "Cordons a machine and moves its pods away, as `kubectl drain` does. It stays cordoned until it is uncordoned.",
);
export const uncordon = maintenance("uncordon", "Lets Kubernetes schedule pods on a machine again.");

function maintenance(work: Maintenance, description: string): Action<Schema, Client> {
  return {
    name: `talosmith_${work}`,
    description,
    attributes,
    timeouts: { invoke: "20m" },
    invoke: (request) => maintain(work, request),
  };
}

/** Machines are maintained one after another, however many of these actions Terraform invokes at once. */
async function maintain(work: Maintenance, request: ActionRequest<Schema, Client>): Promise<void> {
  const { config, client, signal, clock } = request;
  const { machine, endpoints, rollout } = config;
  await client.inTurn(clock, async () => {
    await client.keepSimulator(endpoints);
    const secrets = await client.secrets.of(null);
    const ask = await adminOf(secrets);
    const { cluster: desired } = await firstAnswer(endpoints, signal, (address) =>
      clusterAsKnownBy(address, ask, secrets, signal),
    );
    if (!desired.machines.some(({ name }) => name === machine)) throw unknownMachine(machine, desired.machines);
    const { maintainMachine } = await import("../../../engine/index.ts");
    const { events, ...run } = await runOptions(desired.name, request);
    const policy = policyOf({ rollout });
    const claim = removalClaim(client, "", false);
    const options = { ...run, desired, secrets, policy, claim, events: eventsTo(request, events) };
    await whenFree(request, () => maintainMachine(work, machine, options));
  });
}

/** What is begun and done is shown while the action runs. */
function eventsTo({ progress }: Pick<ActionRequest<Schema, Client>, "progress">, follow: EventListener): EventListener {
  return (event) => {
    follow(event);
    if (event.type === "step-finished" || event.type === "waiting" || event.type === "warning") progress(event.message);
  };
}

function unknownMachine(name: string, machines: readonly { readonly name: string }[]): DiagnosticError {
  return new DiagnosticError({
    summary: "No such machine",
    detail: `Found ${JSON.stringify(name)}; the cluster has ${machines.map((machine) => machine.name).join(", ")}. Without discovery only control planes are known.`,
    path: path("machine"),
  });
}
