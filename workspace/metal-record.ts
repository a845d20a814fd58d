// SPDX-License-Identifier: Apache-2.0
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { writeFileAtomically } from "../talos/atomic-file.ts";
import { TalosError } from "../talos/errors.ts";

const recordSchema = z.object({
  v: z.literal(1),
  machines: z.array(z.object({ name: z.string(), role: z.enum(["controlplane", "worker"]), address: z.string() })),
});

export type RecordedMachine = Readonly<z.output<typeof recordSchema>["machines"][number]>;

/** Beside the Terraform states, and as little to be lost. */
function recordFile(root: string, environment: string): string {
  return join(root, "state", `${environment}.machines.json`);
}

/** The machines that the helper took into the cluster of an environment. */
export async function readRecord(root: string, environment: string): Promise<readonly RecordedMachine[]> {
  const file = recordFile(root, environment);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  const record = recordSchema.safeParse(parseJson(text));
  if (record.success) return record.data.machines;
  throw new TalosError("failed-precondition", `${file}: found no list of machines`, {
    hint: "It tells which machines belong to the cluster. Put a good copy back, or remove it if no machine has left the file since the last deploy.",
  });
}

export async function recordMachines(
  root: string,
  environment: string,
  machines: readonly RecordedMachine[],
): Promise<void> {
  const text = `${JSON.stringify({ v: 1, machines }, undefined, 2)}\n`;
  await writeFileAtomically(recordFile(root, environment), text);
}

export async function forgetMachines(root: string, environment: string): Promise<void> {
  await rm(recordFile(root, environment), { force: true });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
