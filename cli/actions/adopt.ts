// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse, stringify } from "yaml";
import { type DesiredCluster, defaultPolicy, previewCluster } from "../../engine/index.ts";
import {
  type Additions,
  type AdoptedMachine,
  type AdoptSource,
  differingSecrets,
  environmentData,
  fromOperator,
  fromProviderState,
  fromTalhelper,
  fromTalosctl,
  type MachinePatches,
  patchesBetween,
  readMachines,
  type SourceFile,
  splitSecrets,
} from "../../model/adopt/index.ts";
import { loadEnvironment, schemaPaths } from "../../model/index.ts";
import { bundleCommand, objectsOf } from "../../operator/index.ts";
import { writeFileAtomically } from "../../talos/atomic-file.ts";
import { detectContract, MachineConfig, machineFacts } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { installerOf } from "../../talos/image/index.ts";
import { createProtectedText, encodeSecrets, openSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import type { Data } from "../../talos/yaml/index.ts";
import { refuseExisting, schemaPlace } from "../../workspace/environment-file.ts";
import { projectRoot } from "../../workspace/project.ts";
import { openWorkspace, Workspace } from "../../workspace/workspace.ts";
import type { CommandContext } from "../context.ts";
import { report } from "../output/report.ts";
import { jsonLine } from "../output/table.ts";
import { protectedFile } from "./gen.ts";
import { readText } from "./user-files.ts";

interface AdoptFlags {
  readonly talosctl?: string;
  readonly talhelper?: string;
  readonly terraformState?: string;
  readonly talosOperator: readonly string[];
  readonly secrets?: string;
  readonly nodes: readonly string[];
  readonly ageRecipient: readonly string[];
  readonly sops: boolean;
  /** As custom resources instead of an environment file. */
  readonly toCrds: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

/**
 * Reads the other tool's files and the machines, says the same as an environment, and writes it only when a plan with
 * it would be empty: adopting changes nothing.
 */
export async function adopt(name: string, flags: AdoptFlags, context: CommandContext): Promise<void> {
  const root = projectRoot(context.cwd, context.env);
  const file = `environments/${name}.yaml`;
  refuseExisting(root, name);
  const source = await readSource(flags, context);
  const secrets =
    flags.secrets === undefined ? source.secrets : await openSecrets(resolve(context.cwd, flags.secrets), context.env);
  if (secrets === undefined)
    throw new TalosError("not-found", "the files hold no secrets bundle", { hint: "Give it with --secrets." });
  const addresses = flags.nodes.length > 0 ? flags.nodes : source.addresses;
  const machines = await readMachines(secrets, addresses, context);
  const kept = placesFor(name, flags);
  const talosVersion = TalosVersion.parse(machines[0]?.talosVersion ?? "");
  const configs = machines.map(({ config }) => config);
  const shared = {
    contract: detectContract(configs, talosVersion, secrets),
    ...given({ secretsFile: kept.kind === "file" ? undefined : kept.bundle }),
  };
  const render = async (additions: Omit<Additions, "contract">, secret: readonly string[]) => {
    const text = environmentText(root, environmentData(machines, source.sections, { ...shared, ...additions }));
    const environment = loadEnvironment(root, name, new Map([[file, text]]));
    const workspace = new Workspace({ root, environment, context });
    const found = await workspace.machines.find();
    return { text, desired: await workspace.desired(secrets, found, { patches: secret }) };
  };
  const images = imagesToSet(machines, (await render({}, [])).desired);
  const { desired: bare } = await render({ images }, []);
  const { patches, secret } = differences(machines, bare);
  const hidden = secret.map((patch) => stringify(patch)).join("---\n");
  const patchFiles = secret.length === 0 ? [] : [kept.patches];
  const { text, desired } = await render({ images, patches, patchFiles }, secret.length === 0 ? [] : [hidden]);
  await requireEmptyPlan(desired, secrets, context);
  const notes = [...source.notes, ...installerNotes(new Set(images.values()), talosVersion, name)];
  for (const note of notes) context.stderr.write(`${note}\n`);
  const made: Made = flags.toCrds ? { file: `objects/${name}.yaml`, text: objectsText(name, text) } : { file, text };
  if (flags.dryRun)
    return context.stdout.write(flags.json ? jsonLine({ v: 1, environment: name, ...made }) : made.text);
  const texts = new Map([[kept.bundle, encodeSecrets(secrets)], ...patchFiles.map((path) => [path, hidden] as const)]);
  // The secrets first: an environment without them would be taken for one that is yet to be made.
  for (const [path, content] of texts) await createProtectedText(protectedFile(join(root, path), flags), content);
  await writeFileAtomically(join(root, made.file), made.text, { mode: 0o644, exclusive: true });
  const written = [...texts.keys()];
  const done = `Adopted ${machines.length} machines: ${[made.file, ...written].join(" and ")}.`;
  const facts = { environment: name, file: made.file, written, machines: machines.length };
  if (flags.toCrds)
    return report(context, flags, facts, `${done} Apply them: ${applyCommands(name, made.file, kept, patchFiles)}`);
  // They are in the cluster, as after `up`: else terraform, where it is there, would plan them as new ones.
  await openWorkspace(name, context).machines.ensure();
  report(context, flags, facts, `${done} A plan has nothing to change: talosmith plan ${name}`);
}

/** The file that says what the cluster is. */
interface Made {
  /** Relative to the project's root. */
  readonly file: string;
  readonly text: string;
}

function objectsText(name: string, environment: string): string {
  const documents = objectsOf(name, parse(environment) as Data);
  return documents.map((document) => stringify(document, { lineWidth: 0 })).join("---\n");
}

/** The operator reads them as plain text. */
function applyCommands(
  name: string,
  file: string,
  kept: ReturnType<typeof placesFor>,
  patches: readonly string[],
): string {
  if (kept.kind !== "file") return `kubectl apply --filename=${file}, with the decrypted files in the Secret`;
  return `${bundleCommand(name, kept.bundle, patches)} && kubectl apply --filename=${file}`;
}

async function readSource(flags: AdoptFlags, context: CommandContext): Promise<AdoptSource> {
  const { talosctl, talhelper, terraformState, talosOperator } = flags;
  const named = [talosctl, talhelper, terraformState, talosOperator[0]].filter((value) => value !== undefined);
  if (named.length > 1) throw new TalosError("invalid-input", "only one tool's files can be adopted at a time");
  const read = async (path: string): Promise<SourceFile> => ({ name: path, text: await readText(path, context.cwd) });
  const ifThere = async (path: string) => (existsSync(resolve(context.cwd, path)) ? await read(path) : undefined);
  if (talosctl !== undefined) {
    const [secrets, controlPlane, talosconfig] = await Promise.all(
      ["secrets.yaml", "controlplane.yaml", "talosconfig"].map((file) => ifThere(join(talosctl, file))),
    );
    return fromTalosctl(given({ secrets, controlPlane, talosconfig }));
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

/** Names by which people and .gitignore see that a file is encrypted. */
const endings = { file: ".yaml", age: ".yaml.age", sops: ".sops.yaml" } as const;

/** Relative to the project's root. */
function placesFor(name: string, flags: AdoptFlags) {
  const { kind } = protectedFile("", flags);
  return { kind, bundle: `secrets/${name}${endings[kind]}`, patches: `secrets/${name}.patch${endings[kind]}` };
}

/** The installers that the file has to name: those that its version and schematic do not lead to. */
function imagesToSet(machines: readonly AdoptedMachine[], desired: DesiredCluster): ReadonlyMap<string, string> {
  return new Map(
    machines.flatMap(({ name, config }) => {
      const { installImage } = machineFacts(config);
      const usual = desired.machines.find((machine) => machine.name === name)?.installImage;
      return installImage === undefined || installImage === usual ? [] : [[name, installImage] as const];
    }),
  );
}

/** talosctl upgrades machines and leaves the installer in their configs as it was. */
function installerNotes(images: ReadonlySet<string>, version: TalosVersion, name: string): readonly string[] {
  return [...images]
    .filter((image) => ![undefined, image].includes(installerOf(image, version)))
    .map(
      (image) =>
        `The configs name the installer ${image}, but the machines run Talos ${version}. The next talosmith upgrade talos ${name} sets it; before you add machines, remove the image from environments/${name}.yaml, then run: talosmith up ${name}`,
    );
}

/**
 * What the machines have beyond what their environment says of itself, as patches; what is secret in them apart, for a
 * file that holds for all machines.
 */
function differences(
  machines: readonly AdoptedMachine[],
  desired: DesiredCluster,
): { readonly patches: MachinePatches; readonly secret: readonly object[] } {
  const halves = machines.map(({ name, config }) => {
    const made = desired.machines.find((machine) => machine.name === name)?.config ?? new MachineConfig("");
    return { name, ...splitSecrets(patchesBetween(made, config)) };
  });
  const differing = differingSecrets(halves);
  if (differing.length > 0) throw notShared(differing);
  return { patches: new Map(halves.map(({ name, open }) => [name, open])), secret: halves[0]?.secret ?? [] };
}

function notShared(differing: readonly string[]): TalosError {
  const lines = differing.map((line) => `\n  ${line}`).join("");
  return new TalosError(
    "failed-precondition",
    `these secrets of the machines' configs are not in the secrets bundle, and differ between machines:${lines}`,
    {
      hint: "Nothing was written; leave the machines' configs as they are. If the bundle is an older or another one, make it from a control plane's config (talosmith gen secrets --from-controlplane-config) and give it with --secrets. cluster.patchFiles is the same for all machines: give all of them the same values before you adopt (talosctl patch machineconfig), or use talosmith_cluster, where each machine has patch_files of its own.",
    },
  );
}

async function requireEmptyPlan(
  desired: DesiredCluster,
  secrets: SecretsBundle,
  { signal }: CommandContext,
): Promise<void> {
  const { steps } = await previewCluster({ desired, secrets, policy: defaultPolicy, signal });
  if (steps.length === 0) return;
  const lines = steps.map(({ sentence }) => `- ${sentence}`).join("\n");
  throw new TalosError("failed-precondition", `adopted as it is, the cluster would be changed:\n${lines}`, {
    hint: "Nothing was written. Finish what is under way in the cluster, and adopt it then.",
  });
}

function environmentText(root: string, data: object): string {
  return `# yaml-language-server: $schema=${schemaPaths[schemaPlace(root)]}\n${stringify(data, { lineWidth: 0 })}`;
}
