// SPDX-License-Identifier: Apache-2.0

import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { renderMeta } from "../cloud-init/index.ts";
import type { MachineSpec } from "../engine/index.ts";
import { type Environment, type MetalEnvironment, machinesOf, metalPatches, staticAddress } from "../model/index.ts";
import { textIfThere, writeFileAtomically } from "../talos/atomic-file.ts";
import { TalosError } from "../talos/errors.ts";
import { given } from "../talos/given.ts";
import { jsonIn } from "../talos/plain-text.ts";
import type { MachineAddress } from "./cluster-spec.ts";
import type { MachineSource } from "./machine-source.ts";

const recordSchema = z.object({
  v: z.literal(1),
  /** Config contract of the cluster. Records of before there was one have none. */
  contract: z.string().optional(),
  machines: z.array(z.object({ name: z.string(), role: z.enum(["controlplane", "worker"]), address: z.string() })),
});

type RecordedMachine = Readonly<z.output<typeof recordSchema>["machines"][number]>;

/**
 * Machines by the addresses in the file. Nobody makes or removes them; what is written down is which of them a deploy
 * without Terraform has taken into the cluster, so that one that goes from the file can leave.
 */
export const metalMachines: MachineSource = {
  async ensure({ root, environment }) {
    const found = addressesOf(metal(environment));
    const known = await readRecord(root, environment.name);
    const wanted = recordsOf(metal(environment));
    const gone = known.filter(({ name, address }) => !wanted.some((w) => w.name === name && w.address === address));
    const moved = gone.find(({ name }) => wanted.some((machine) => machine.name === name));
    if (moved !== undefined)
      throw new TalosError(
        "failed-precondition",
        `${moved.name} was at ${moved.address}, and is at another address now`,
        { hint: "Give the new machine another name, so that the old one can leave." },
      );
    await recordMachines(root, environment, [...wanted, ...gone]);
    return found;
  },

  find: async ({ environment }) => addressesOf(metal(environment)),

  has: async ({ root, environment }) => (await readRecord(root, environment.name)).length > 0,

  async surplus({ root, environment }) {
    const wanted = new Set(machinesOf(environment).map(({ name }) => name));
    const known = await readRecord(root, environment.name);
    return known.filter(({ name }) => !wanted.has(name)).map((machine): MachineSpec => ({ ...machine }));
  },

  async remove({ root, environment }, names) {
    if (names === undefined) return forgetMachines(root, environment.name);
    if (names.length === 0) return;
    const known = await readRecord(root, environment.name);
    const left = known.filter(({ name }) => !names.includes(name));
    await recordMachines(root, environment, left);
  },
};

function metal(environment: Environment): MetalEnvironment {
  if (environment.kind !== "metal") throw new TalosError("internal", `${environment.name} is not of kind metal`);
  return environment;
}

function recordsOf(environment: MetalEnvironment): readonly RecordedMachine[] {
  const { machines } = environment.infrastructure;
  return machinesOf(environment).map(({ name, role }) => ({ name, role, address: machines[name]?.address ?? "" }));
}

function addressesOf(environment: MetalEnvironment): Map<string, MachineAddress> {
  const { cluster, infrastructure } = environment;
  const { network, meta, diskSelector, wipe } = infrastructure;
  const { talosVersion, configContract, installDisk } = cluster;
  const imageFactory = cluster.airGap?.factory;
  return new Map(
    Object.entries(infrastructure.machines).map(([name, machine]) => {
      const { address, role, fingerprint, mac, link } = machine;
      const { gateway } = network;
      const nameservers = network.nameservers.length === 0 ? undefined : network.nameservers;
      const known = { hostname: name, role, cluster: cluster.name, address, mac, link, gateway, nameservers };
      return [
        name,
        {
          address,
          ...given({ fingerprint }),
          patches: metalPatches({
            talosVersion,
            configContract,
            machine,
            network,
            diskSelector,
            wipe,
            installDisk,
            imageFactory,
          }),
          meta: renderMeta({ ...known, cidr: staticAddress({ machine, network }) }, meta, machine.meta),
        },
      ];
    }),
  );
}

/** Beside the Terraform states, and as little to be lost. */
function recordFile(root: string, environment: string): string {
  return join(root, "state", `${environment}.machines.json`);
}

/** The machines that a deploy without Terraform took into the cluster of an environment. */
async function readRecord(root: string, environment: string): Promise<readonly RecordedMachine[]> {
  const file = recordFile(root, environment);
  const text = await textIfThere(file);
  if (text === undefined) return [];
  const record = recordSchema.safeParse(jsonIn(text));
  if (record.success) return record.data.machines;
  throw new TalosError("failed-precondition", `${file}: found no list of machines`, {
    hint: "It tells which machines belong to the cluster. Put a good copy back, or remove it if no machine has left the file since the last deploy.",
  });
}

async function recordMachines(
  root: string,
  { name, cluster }: Environment,
  machines: readonly RecordedMachine[],
): Promise<void> {
  const text = `${JSON.stringify({ v: 1, contract: cluster.configContract, machines }, undefined, 2)}\n`;
  await writeFileAtomically(recordFile(root, name), text);
}

async function forgetMachines(root: string, environment: string): Promise<void> {
  await rm(recordFile(root, environment), { force: true });
}
