// SPDX-License-Identifier: Apache-2.0
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import type { Environment } from "../model/index.ts";
import { removeIfEmpty, textIfThere, writeFileAtomically } from "../talos/atomic-file.ts";
import { TalosError } from "../talos/errors.ts";
import { jsonIn } from "../talos/plain-text.ts";

const recordSchema = z.object({
  v: z.literal(1),
  /** Config contract of the cluster. Records of before there was one have none. */
  contract: z.string().optional(),
  /** Machines that are recorded nowhere else: of simulated ones the simulator has its own record. */
  machines: z.array(z.object({ name: z.string(), role: z.enum(["controlplane", "worker"]), address: z.string() })),
  /** Files, by their paths from the root, of which one is there as long as the cluster is. @default it is until it is destroyed */
  countsWith: z.array(z.string()).optional(),
});

type MachineRecord = Readonly<z.output<typeof recordSchema>>;

export type RecordedMachine = Readonly<MachineRecord["machines"][number]>;

/** Beside the Terraform states, and as little to be lost. */
function recordFile(root: string, environment: string): string {
  return join(root, "state", `${environment}.machines.json`);
}

/** What a deploy without Terraform recorded of an environment. */
async function readRecord(root: string, environment: string): Promise<MachineRecord | undefined> {
  const file = recordFile(root, environment);
  const text = await textIfThere(file);
  if (text === undefined) return undefined;
  const record = recordSchema.safeParse(jsonIn(text));
  if (record.success) return record.data;
  throw new TalosError("failed-precondition", `${file}: found no list of machines`, {
    hint: "It tells which machines belong to the cluster. Put a good copy back, or remove it if no machine has left the file since the last deploy.",
  });
}

/** The machines that a deploy without Terraform took into the cluster of an environment. */
export async function recordedMachines(root: string, environment: string): Promise<readonly RecordedMachine[]> {
  return (await readRecord(root, environment))?.machines ?? [];
}

/**
 * Records which machines a deploy takes in. The contract stays that of the last deploy that ended well: until then a
 * migration can be taken back.
 */
export async function recordMachines(
  root: string,
  { name, cluster }: Environment,
  machines: readonly RecordedMachine[],
  countsWith?: readonly string[],
): Promise<void> {
  const known = await readRecord(root, name);
  const isSame = known?.countsWith === undefined || known.countsWith.some((file) => countsWith?.includes(file));
  const contract = (isSame ? known?.contract : undefined) ?? cluster.configContract;
  await write(root, name, {
    v: 1,
    contract,
    machines: [...machines],
    ...(countsWith && { countsWith: [...countsWith] }),
  });
}

/** After a deploy that ended well: the machines have configs of this contract. */
export async function recordContract(root: string, { name, cluster }: Environment): Promise<void> {
  const known = await readRecord(root, name);
  if (known !== undefined && known.contract !== cluster.configContract)
    await write(root, name, { ...known, contract: cluster.configContract });
}

export async function removeRecord(root: string, environment: string): Promise<void> {
  const file = recordFile(root, environment);
  await rm(file, { force: true });
  await removeIfEmpty(dirname(file));
}

async function write(root: string, environment: string, record: MachineRecord): Promise<void> {
  await writeFileAtomically(recordFile(root, environment), `${JSON.stringify(record, undefined, 2)}\n`);
}
