// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createZip } from "../../provider/packaging/release.ts";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";
import { hideSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import { projectRoot } from "../../workspace/project.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { jsonLine } from "../output/table.ts";
import { clusterEntries, Entries, findCluster, machineEntries, projectEntries } from "../support/entries.ts";
import { redactText } from "../support/redact-text.ts";
import { forEachAtOnce } from "./doctor.ts";

interface SupportFlags {
  readonly output?: string;
  readonly force: boolean;
  readonly json: boolean;
}

/** Machines that are asked side by side. */
const atOnce = 8;

/** Gathers what somebody who helps needs to know, without any secret, into one archive. */
export async function support(name: string, flags: SupportFlags, context: CommandContext): Promise<void> {
  const root = projectRoot(context.cwd, context.env);
  const target = resolve(context.cwd, flags.output ?? `support-${name}.zip`);
  if (existsSync(target) && !flags.force) {
    throw new TalosError("already-exists", `${target} is there already`, {
      hint: "Name another file with --output, or replace it with --force.",
    });
  }
  const entries = new Entries(await redaction(name, context));
  context.stderr.write("Asking this computer and the machines …\n");
  await projectEntries(root, name, entries, context);
  const found = await findCluster(name, entries, context);
  if (found !== undefined) {
    const { cluster } = found;
    await clusterEntries(found, entries);
    await forEachAtOnce(cluster.desired.machines, atOnce, (machine) =>
      machineEntries(cluster, machine, entries, context.signal),
    );
  }
  context.signal.throwIfAborted();
  const files = [...entries.files()].sort(([a], [b]) => (a < b ? -1 : 1));
  const archive = createZip(
    files.map(([file, text]) => ({ name: `support-${name}/${file}`, content: Buffer.from(text), executable: false })),
  );
  await writeFileAtomically(target, archive);
  context.stderr.write(`${files.length} files, secrets replaced. Look at them before you send them to anybody.\n`);
  context.stdout.write(flags.json ? jsonLine({ v: 1, path: target, files: files.length }) : `${target}\n`);
}

/** Known secrets by their value, the rest by how they look. A cluster without secrets has none to hide. */
async function redaction(name: string, context: CommandContext): Promise<(text: string) => string> {
  let secrets: SecretsBundle | undefined;
  try {
    secrets = await openWorkspace(name, context).secrets.find();
  } catch (error) {
    // A file with faults is what help may be needed for; no machine is asked then.
    context.stderr.write(`Warning: ${TalosError.from(error).message}\n`);
  }
  if (secrets === undefined) return redactText;
  const hide = hideSecrets(secrets);
  return (text) => redactText(hide(text));
}
