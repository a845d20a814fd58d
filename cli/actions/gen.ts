// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkEndpoint } from "../../talos/check-endpoint.ts";
import {
  type ClusterConfig,
  encodeTalosconfig,
  generateMachineConfig,
  generateTalosconfig,
  type Patch,
  parseLifetime,
  parsePatch,
  type Role,
  roles,
  secretsFromConfig,
} from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import {
  caFingerprint,
  encodeSecrets,
  type FileStore,
  generateSecrets,
  importKubeadmPki,
  openSecrets,
  type SecretsBundle,
  secretsExist,
  secretsStore,
} from "../../talos/secrets/index.ts";
import { Contract, defaultTalosVersion, TalosVersion } from "../../talos/version/index.ts";
import type { CommandContext } from "../context.ts";
import { jsonLine } from "../output/table.ts";
import { readPatches, readText, writeOutputs } from "./user-files.ts";

interface GenConfigOptions {
  readonly withSecrets?: string;
  readonly talosVersion?: string;
  readonly kubernetesVersion?: string;
  readonly installDisk: string;
  readonly installImage?: string;
  readonly additionalSans: readonly string[];
  readonly dnsDomain: string;
  readonly withKubespan: boolean;
  readonly withClusterDiscovery: boolean;
  readonly registryMirror: readonly string[];
  readonly configPatch: readonly string[];
  readonly configPatchControlPlane: readonly string[];
  readonly configPatchWorker: readonly string[];
  readonly output?: string;
  readonly outputDir?: string;
  /** @default all */
  readonly outputTypes?: readonly string[];
  readonly force: boolean;
  readonly json: boolean;
}

const fileNames = { controlplane: "controlplane.yaml", worker: "worker.yaml", talosconfig: "talosconfig" } as const;
type OutputType = keyof typeof fileNames;

export async function genConfig(
  name: string,
  endpoint: string,
  options: GenConfigOptions,
  context: CommandContext,
): Promise<void> {
  checkEndpoint(endpoint);
  const types = outputTypes(options.outputTypes);
  if (options.output === "-" && types.length > 1) {
    throw new TalosError("invalid-input", "can't use multiple output types with stdout", {
      hint: "Choose one with --output-types.",
    });
  }
  const cluster = clusterConfig(name, endpoint, options);
  const secrets = await secretsFor(cluster, options, context);
  const outputs = await render(types, cluster, secrets, options, context);
  if (options.output === "-") {
    context.stdout.write(outputs[0]?.content ?? "");
    return;
  }
  const placed = outputs.map(({ type, content }) => ({ type, content, path: outputPath(type, types, options) }));
  await writeOutputs(placed, { cwd: context.cwd, force: options.force });
  if (options.json) {
    context.stdout.write(jsonLine({ files: placed.map(({ type, path }) => ({ type, path })) }));
  } else for (const { path } of placed) context.stderr.write(`Created ${path}\n`);
}

const allTypes = Object.keys(fileNames) as readonly OutputType[];

function outputTypes(wanted: readonly string[] = allTypes): readonly OutputType[] {
  const unknown = wanted.find((type) => !allTypes.some((known) => known === type));
  const refused = (message: string) =>
    new TalosError("invalid-input", message, { hint: `Choose from: ${allTypes.join(", ")}.` });
  if (unknown !== undefined) throw refused(`invalid output type: ${JSON.stringify(unknown)}`);
  if (wanted.length === 0) throw refused("at least one output type must be specified");
  return allTypes.filter((type) => wanted.includes(type));
}

function clusterConfig(name: string, endpoint: string, options: GenConfigOptions): ClusterConfig {
  const contract = contractOption(options.talosVersion);
  // Like talosctl, an older contract changes the form only; a newer one needs its own release.
  const newest = TalosVersion.newestOf(contract);
  const talosVersion = newest.compare(defaultTalosVersion) > 0 ? newest : defaultTalosVersion;
  const { kubernetesVersion } = options;
  if (kubernetesVersion !== undefined && !newest.supportsKubernetes(kubernetesVersion)) {
    talosVersion.requireKubernetes(kubernetesVersion);
  }
  return {
    clusterName: name,
    endpoint,
    talosVersion,
    contract,
    kubernetesVersion: kubernetesVersion ?? talosVersion.defaultKubernetesVersion,
    installDisk: options.installDisk,
    ...given({ installImage: options.installImage, kubespan: options.withKubespan || undefined }),
    additionalSans: options.additionalSans,
    dnsDomain: options.dnsDomain,
    discovery: options.withClusterDiscovery,
    registryMirrors: registryMirrors(options.registryMirror),
  };
}

function registryMirrors(specs: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const mirrors: Record<string, string[]> = {};
  for (const spec of specs) {
    const [, host, url] = /^([^=]+)=(.+)$/.exec(spec) ?? [];
    if (host === undefined || url === undefined) {
      throw new TalosError("invalid-input", `invalid registry mirror spec: ${JSON.stringify(spec)}`, {
        hint: "Write it as <registry host>=<mirror URL>.",
      });
    }
    mirrors[host] = [...(mirrors[host] ?? []), url];
  }
  return mirrors;
}

async function secretsFor(
  cluster: ClusterConfig,
  options: GenConfigOptions,
  context: CommandContext,
): Promise<SecretsBundle> {
  if (options.withSecrets !== undefined) {
    return await openSecrets(resolve(context.cwd, options.withSecrets), context.env);
  }
  context.stderr.write("generating PKI and tokens\n");
  const contract = cluster.contract ?? cluster.talosVersion.contract;
  return await generateSecrets({ contract, clock: context.clock, entropy: context.entropy });
}

async function render(
  types: readonly OutputType[],
  cluster: ClusterConfig,
  secrets: SecretsBundle,
  options: GenConfigOptions,
  context: CommandContext,
): Promise<readonly { readonly type: OutputType; readonly content: string }[]> {
  const patches = async (args: readonly string[]): Promise<readonly Patch[]> =>
    (await readPatches(args, context.cwd)).map(({ name, text }) => parsePatch(text, name));
  const all = await patches(options.configPatch);
  const own = {
    controlplane: await patches(options.configPatchControlPlane),
    worker: await patches(options.configPatchWorker),
  };
  return types.map((type) => {
    if (type !== "talosconfig") {
      return { type, content: generateMachineConfig(cluster, secrets, { type, patches: [...all, ...own[type]] }) };
    }
    const { clock, entropy } = context;
    const config = generateTalosconfig(secrets, { clusterName: cluster.clusterName, endpoints: [], clock, entropy });
    return { type, content: encodeTalosconfig(config) };
  });
}

/** A single output may be named by its file; several go into a folder. */
function outputPath(type: OutputType, types: readonly OutputType[], options: GenConfigOptions): string {
  if (options.outputDir !== undefined) return join(options.outputDir, fileNames[type]);
  if (options.output === undefined) return fileNames[type];
  return types.length === 1 ? options.output : join(options.output, fileNames[type]);
}

interface GenSecretsOptions {
  readonly fromControlplaneConfig?: string;
  readonly fromKubernetesPki?: string;
  readonly fromTerraformState?: string;
  readonly kubernetesBootstrapToken?: string;
  readonly outputFile: string;
  readonly talosVersion?: string;
  readonly ageRecipient: readonly string[];
  readonly sops: boolean;
  readonly force: boolean;
  readonly json: boolean;
}

export async function genSecrets(options: GenSecretsOptions, context: CommandContext): Promise<void> {
  const path = resolve(context.cwd, options.outputFile);
  const store = protectedFile(path, options);
  if (options.outputFile === "-") {
    if (store.kind !== "file") {
      throw new TalosError("invalid-input", "encrypted secrets cannot be written to stdout", {
        hint: "Name a file with --output-file.",
      });
    }
    context.stdout.write(encodeSecrets(await makeBundle(options, context)));
    return;
  }
  const replace = options.force;
  // Told before keys are made, which takes seconds. The write itself is what keeps an existing file safe.
  if (!replace && existsSync(path)) throw secretsExist(options.outputFile);
  const bundle = await makeBundle(options, context);
  await secretsStore(store).create(bundle, { replace });
  const summary = { file: options.outputFile, caFingerprint: caFingerprint(bundle) };
  if (options.json) context.stdout.write(jsonLine(summary));
  else context.stderr.write(`Created ${options.outputFile}\n`);
}

/** A file with secrets, encrypted as the flags say. */
export function protectedFile(
  path: string,
  { sops, ageRecipient: recipients }: Pick<GenSecretsOptions, "sops" | "ageRecipient">,
): FileStore {
  if (sops && recipients.length > 0)
    throw new TalosError("invalid-input", "--sops and --age-recipient cannot be used together");
  if (sops) return { kind: "sops", path };
  return recipients.length > 0 ? { kind: "age", path, recipients } : { kind: "file", path };
}

async function makeBundle(options: GenSecretsOptions, context: CommandContext): Promise<SecretsBundle> {
  const generate = { contract: contractOption(options.talosVersion), clock: context.clock, entropy: context.entropy };
  const { fromControlplaneConfig: config, fromKubernetesPki: pki, fromTerraformState: state } = options;
  const flags = { "--from-controlplane-config": config, "--from-kubernetes-pki": pki, "--from-terraform-state": state };
  const used = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag]));
  if (used.length > 1) throw new TalosError("invalid-input", `${used.join(" and ")} cannot be used together`);
  if (state !== undefined) return bundleInState(state, context);
  if (config !== undefined) return secretsFromConfig(await readText(config, context.cwd), config);
  if (pki !== undefined) {
    return await importKubeadmPki(resolve(context.cwd, pki), options.kubernetesBootstrapToken, generate);
  }
  return await generateSecrets(generate, given({ bootstrapToken: options.kubernetesBootstrapToken }));
}

async function bundleInState(path: string, { cwd }: CommandContext): Promise<SecretsBundle> {
  const { fromProviderState } = await import("../../model/adopt/index.ts");
  const { secrets } = fromProviderState({ name: path, text: await readText(path, cwd) });
  if (secrets !== undefined) return secrets;
  throw new TalosError("not-found", `${path}: found no talos_machine_secrets`, {
    hint: "Take the secrets from a control plane instead: --from-controlplane-config.",
  });
}

interface GenTalosconfigOptions {
  readonly withSecrets: string;
  /** @default os:admin */
  readonly roles?: readonly string[];
  readonly crtTtl: string;
  readonly endpoints: readonly string[];
  readonly nodes: readonly string[];
  readonly output: string;
  readonly force: boolean;
  readonly json: boolean;
}

export async function genTalosconfig(
  name: string,
  options: GenTalosconfigOptions,
  context: CommandContext,
): Promise<void> {
  const secrets = await openSecrets(resolve(context.cwd, options.withSecrets), context.env);
  const ttl = parseLifetime(options.crtTtl);
  const config = generateTalosconfig(secrets, {
    clusterName: name,
    endpoints: options.endpoints,
    ...given({ nodes: options.nodes.length === 0 ? undefined : options.nodes }),
    roles: knownRoles(options.roles),
    ttl,
    clock: context.clock,
    entropy: context.entropy,
  });
  if (options.output === "-") {
    context.stdout.write(encodeTalosconfig(config));
    return;
  }
  const file = { path: options.output, content: encodeTalosconfig(config) };
  await writeOutputs([file], { cwd: context.cwd, force: options.force });
  const expires = new Date(context.clock.now().getTime() + ttl).toISOString();
  if (options.json) context.stdout.write(jsonLine({ file: options.output, context: name, expires }));
  else context.stderr.write(`Created ${options.output}, valid until ${expires}\n`);
}

/** Throws, with all roles, when a text is none. */
export function knownRoles(texts: readonly string[] = ["os:admin"]): readonly Role[] {
  return texts.map((text) => {
    const role = roles.find((known) => known === text);
    if (role !== undefined) return role;
    throw new TalosError("invalid-input", `${JSON.stringify(text)} is not a role`, {
      hint: `Choose from: ${roles.join(", ")}.`,
    });
  });
}

/** The contract that `--talos-version` names. An empty value is none, as for talosctl: scripts pass empty variables. */
function contractOption(text: string | undefined): Contract {
  return text === undefined || text === "" ? defaultTalosVersion.contract : Contract.parse(text);
}
