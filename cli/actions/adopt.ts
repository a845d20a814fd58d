// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { stringify } from "yaml";
import {
  type AdoptedMachine,
  type AdoptSource,
  environmentData,
  fromOperator,
  fromProviderState,
  fromTalhelper,
  fromTalosctl,
  type MachinePatches,
  patchesBetween,
  readMachines,
  type SourceFile,
} from "../../talos/adopt/index.ts";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { type DesiredCluster, desiredCluster, previewCluster } from "../../talos/cluster/index.ts";
import { secretsInPatch } from "../../talos/config/index.ts";
import { type Environment, loadEnvironment, schemaPaths } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { createSecretsFile, openSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import type { CommandContext } from "../context.ts";
import { clusterSpec } from "../helper/cluster-spec.ts";
import { findMachines } from "../helper/machines.ts";
import { secretsFile } from "../helper/secrets.ts";
import { projectRoot } from "../project-root.ts";
import { readText } from "./read-patches.ts";

export interface AdoptFlags {
  readonly talosctl?: string;
  readonly talhelper?: string;
  readonly terraformState?: string;
  readonly talosOperator: readonly string[];
  readonly secrets?: string;
  readonly nodes: readonly string[];
  readonly dryRun: boolean;
}

/**
 * Reads the other tool's files and the machines, says the same as an environment, and writes it only when a plan with
 * it would be empty: adopting changes nothing.
 */
export async function adopt(name: string, flags: AdoptFlags, context: CommandContext): Promise<void> {
  const root = projectRoot(context.cwd, context.env);
  const file = `environments/${name}.yaml`;
  if (existsSync(join(root, file)))
    throw new TalosError("already-exists", `${file} is there already`, { hint: "Choose another name." });
  const source = await readSource(flags, context);
  const secrets =
    flags.secrets === undefined ? source.secrets : await openSecrets(resolve(context.cwd, flags.secrets), context.env);
  if (secrets === undefined)
    throw new TalosError("not-found", "the files hold no secrets bundle", { hint: "Give it with --secrets." });
  const addresses = flags.nodes.length > 0 ? flags.nodes : source.addresses;
  const machines = await readMachines(secrets, addresses, context);
  const render = async (patches?: MachinePatches) => {
    const text = environmentText(root, environmentData(machines, source.sections, patches));
    const environment = loadEnvironment(root, name, new Map([[file, text]]));
    const desired = desiredCluster(clusterSpec(environment, await findMachines(root, environment)), secrets);
    return { text, environment, desired };
  };
  const { desired: bare } = await render();
  const { text, environment, desired } = await render(differences(machines, bare));
  await requireEmptyPlan(desired, secrets, context);
  for (const note of source.notes) context.stderr.write(`${note}\n`);
  if (flags.dryRun) {
    context.stdout.write(text);
    return;
  }
  await write(root, { file, text, environment, secrets });
  context.stderr.write(
    `Adopted ${machines.length} machines: ${file} and ${environment.secrets.file}. A plan has nothing to change: talosmith plan ${name}\n`,
  );
}

async function readSource(flags: AdoptFlags, context: CommandContext): Promise<AdoptSource> {
  const { talosctl, talhelper, terraformState, talosOperator } = flags;
  const given = [talosctl, talhelper, terraformState, talosOperator[0]].filter((value) => value !== undefined);
  if (given.length > 1) throw new TalosError("invalid-input", "only one tool's files can be adopted at a time");
  const read = async (path: string): Promise<SourceFile> => ({ name: path, text: await readText(path, context.cwd) });
  const ifThere = async (path: string) => (existsSync(resolve(context.cwd, path)) ? await read(path) : undefined);
  if (talosctl !== undefined) {
    const [secrets, controlPlane, talosconfig] = await Promise.all(
      ["secrets.yaml", "controlplane.yaml", "talosconfig"].map((file) => ifThere(join(talosctl, file))),
    );
    return fromTalosctl({
      ...(secrets === undefined ? {} : { secrets }),
      ...(controlPlane === undefined ? {} : { controlPlane }),
      ...(talosconfig === undefined ? {} : { talosconfig }),
    });
  }
  if (talhelper !== undefined)
    return { ...fromTalhelper(await read(talhelper)), ...(await talsecret(talhelper, context)) };
  if (terraformState !== undefined) return fromProviderState(await read(terraformState));
  if (talosOperator.length > 0) return fromOperator(await Promise.all(talosOperator.map(read)));
  if (flags.secrets === undefined || flags.nodes.length === 0)
    throw new TalosError("invalid-input", "nothing says which cluster", {
      hint: "Add --talosctl, --talhelper, --terraform-state or --talos-operator; or --secrets and --nodes.",
    });
  return { addresses: flags.nodes, sections: {}, notes: [] };
}

/** Where talhelper keeps its bundle, plain or by SOPS. */
async function talsecret(talconfig: string, { cwd, env }: CommandContext): Promise<Pick<AdoptSource, "secrets">> {
  for (const file of ["talsecret.sops.yaml", "talsecret.yaml"]) {
    const path = resolve(cwd, dirname(talconfig), file);
    if (existsSync(path)) return { secrets: await openSecrets(path, env) };
  }
  return {};
}

/** What the machines have beyond what their environment says of itself, as patches. Secrets have no place in those. */
function differences(machines: readonly AdoptedMachine[], desired: DesiredCluster): MachinePatches {
  return new Map(
    machines.map(({ name, config }) => {
      const made = desired.machines.find((machine) => machine.name === name)?.config ?? "";
      const patches = patchesBetween(made, config);
      for (const patch of patches) {
        const secret = secretsInPatch(stringify(patch), name).find(({ certain }) => certain);
        if (secret !== undefined)
          throw new TalosError("failed-precondition", `${name}: ${secret.path} holds a secret of its own`, {
            hint: "An environment's patches are no place for it. Take it out of the machine's config first, and add it later as a patch in a file.",
          });
      }
      return [name, patches] as const;
    }),
  );
}

async function requireEmptyPlan(
  desired: DesiredCluster,
  secrets: SecretsBundle,
  { signal }: CommandContext,
): Promise<void> {
  const { steps } = await previewCluster({ desired, secrets, signal });
  if (steps.length === 0) return;
  const lines = steps.map(({ sentence }) => `- ${sentence}`).join("\n");
  throw new TalosError("failed-precondition", `adopted as it is, the cluster would be changed:\n${lines}`, {
    hint: "Nothing was written. Finish what is under way in the cluster, and adopt it then.",
  });
}

function environmentText(root: string, data: object): string {
  const where = existsSync(join(root, "schemas/environment.schema.json")) ? "checkout" : "project";
  return `# yaml-language-server: $schema=${schemaPaths[where]}\n${stringify(data, { lineWidth: 0 })}`;
}

/** The secrets first: an environment without them would be taken for one that is yet to be made. */
async function write(
  root: string,
  {
    file,
    text,
    environment,
    secrets,
  }: { file: string; text: string; environment: Environment; secrets: SecretsBundle },
): Promise<void> {
  await createSecretsFile(secretsFile(root, environment), secrets);
  await writeFileAtomically(join(root, file), text, { mode: 0o644, exclusive: true });
}
