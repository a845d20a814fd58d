// SPDX-License-Identifier: Apache-2.0
import { join, resolve } from "node:path";
import { checkEndpoint } from "../../talos/check-endpoint.ts";
import {
  type ClusterConfig,
  encodeTalosconfig,
  generateMachineConfig,
  generateTalosconfig,
  type Patch,
  parsePatch,
} from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { generateSecrets, openSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import { defaultTalosVersion, TalosVersion } from "../../talos/version/index.ts";
import type { CommandContext } from "../context.ts";
import { contractOption } from "./contract-option.ts";
import { readPatches } from "./read-patches.ts";
import { writeOutputs } from "./write-outputs.ts";

export interface GenConfigOptions {
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
  readonly outputTypes: readonly string[];
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
    context.stdout.write(`${JSON.stringify({ files: placed.map(({ type, path }) => ({ type, path })) })}\n`);
  } else for (const { path } of placed) context.stderr.write(`Created ${path}\n`);
}

function outputTypes(wanted: readonly string[]): readonly OutputType[] {
  const all = Object.keys(fileNames) as OutputType[];
  const unknown = wanted.find((type) => !all.some((known) => known === type));
  if (unknown !== undefined) {
    throw new TalosError("invalid-input", `invalid output type: ${JSON.stringify(unknown)}`, {
      hint: `Choose from: ${all.join(", ")}.`,
    });
  }
  if (wanted.length === 0) {
    throw new TalosError("invalid-input", "at least one output type must be specified", {
      hint: `Choose from: ${all.join(", ")}.`,
    });
  }
  return all.filter((type) => wanted.includes(type));
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
    ...given({ installImage: options.installImage }),
    additionalSans: options.additionalSans,
    dnsDomain: options.dnsDomain,
    ...(options.withKubespan ? { kubespan: true } : {}),
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
