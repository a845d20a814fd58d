// SPDX-License-Identifier: Apache-2.0
import type { DesiredMachine, MachineSpec } from "../../../engine/index.ts";
import type { SecretsBundle } from "../../../talos/secrets/index.ts";
import type { TalosVersion } from "../../../talos/version/index.ts";
import { DiagnosticError, path } from "../../framework/index.ts";
import { adminOf } from "../access.ts";

/** Stands for the control planes of another stack where nobody may be asked: while planning. */
export const standInPlane: MachineSpec = {
  name: "control-plane",
  role: "controlplane",
  address: "control-plane.invalid",
};

interface JoinWishes {
  readonly join: { readonly control_planes: readonly string[] } | null;
  readonly talos_endpoints: readonly string[] | null;
}

/**
 * The control planes of another stack, as they are: what is wished of them is what they have, so the engine finds
 * nothing to do there and only uses them to let workers join and leave.
 */
export async function joinedControlPlanes(
  { join, talos_endpoints }: JoinWishes,
  talosVersion: TalosVersion,
  secrets: SecretsBundle,
  signal: AbortSignal,
): Promise<readonly DesiredMachine[]> {
  const [{ MachineConfig, machineFacts }, { TalosVersion: versions }] = await Promise.all([
    import("../../../talos/config/index.ts"),
    import("../../../talos/version/index.ts"),
  ]);
  const ask = await adminOf(secrets, talos_endpoints);
  const options = { signal, deadline: 10_000 };
  return Promise.all(
    (join?.control_planes ?? []).map((address) =>
      ask(address, async (machine) => {
        const [text = "", { tag }, members] = await Promise.all([
          machine.machineConfig(options),
          machine.version(options),
          machine.clusterMembers(options),
        ]);
        const config = new MachineConfig(text);
        const facts = machineFacts(config);
        const name =
          facts.hostname ?? members.find((member) => member.addresses.includes(address))?.hostname ?? address;
        // Otherwise the engine would upgrade a machine that is not ours.
        if (versions.parse(tag).compare(talosVersion) < 0)
          throw new DiagnosticError({
            summary: "Workers newer than their control plane",
            detail: `${name} runs Talos ${tag}, the workers shall have ${talosVersion}. Upgrade the control plane in its own stack first.`,
            path: path("talos_version"),
          });
        return {
          name,
          role: "controlplane" as const,
          address,
          config,
          installImage: facts.installImage ?? "",
        };
      }),
    ),
  );
}
