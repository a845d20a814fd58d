// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { jsonFile } from "./files.ts";
import type { Talosctl } from "./talosctl.ts";

interface ConfigCase {
  readonly id: string;
  readonly machinery: string;
  readonly talosVersionFlag: string | null;
  readonly clusterName: string;
  readonly endpoint: string;
  readonly secrets: string;
  readonly kubernetesVersion: string;
  readonly installImage: string;
  readonly talosctlArgs: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}

/** Option sets that every contract is made with, beside what the release itself is made with. */
const contractOptions: Readonly<Record<string, readonly string[]>> = {
  default: [],
  kubespan: ["--with-kubespan"],
  "registry-mirror": ["--registry-mirror", "docker.io=https://mirror.example.org"],
  "additional-sans": ["--additional-sans", "api.example.org", "--additional-sans", "10.5.0.99"],
  "no-discovery": ["--with-cluster-discovery=false"],
};

/**
 * `gen config` for the option sets of the newest minor release that has some, and for each contract. Rewrites the rows
 * and files of the minor release that this talosctl is.
 */
export function makeConfigs(talosctl: Talosctl, golden: string, contracts: readonly string[]): number {
  const index = join(golden, "config/index.json");
  const rows: readonly ConfigCase[] = JSON.parse(readFileSync(index, "utf8"));
  const { minor } = talosctl;
  const isOwn = ({ id }: ConfigCase) => id.startsWith(`${minor}/`);
  const models = rows.filter(({ id }) => id.split("/")[1] === "current");
  const own = models.filter(isOwn);
  const newest = models.filter(({ id }) => id.startsWith(`${models.at(-1)?.id.split("/")[0]}/`));
  const current = (own.length > 0 ? own : newest).map((row) => ({
    name: row.id.split("/")[2] ?? "",
    flag: null,
    args: row.talosctlArgs.map((arg) => arg.replace(/^@config\/[\d.]+\//, `@config/${minor}/`)),
    from: row,
  }));
  const older = contracts.flatMap((flag) =>
    Object.entries(contractOptions).map(([name, args]) => ({ name, flag, args, from: undefined })),
  );
  const made = [...current, ...older].map(({ name, flag, args, from }) => {
    const folder = `config/${minor}/${flag ?? "current"}/${name}`;
    mkdirSync(join(golden, folder), { recursive: true });
    if (from !== undefined) copyPatches(golden, from.talosctlArgs, minor);
    const secrets = `secrets/secrets-v${minor}.yaml`;
    const [clusterName, endpoint] = ["golden", "https://10.5.0.10:6443"];
    const contract = flag === null ? [] : ["--talos-version", flag];
    const texts = talosctl.generate([clusterName, endpoint, "--with-secrets", secrets, ...contract, ...args], golden);
    for (const [file, text] of Object.entries(texts)) writeFileSync(join(golden, folder, file), text);
    const files = Object.fromEntries(Object.keys(texts).map((file) => [file, `${folder}/${file}`]));
    const { kubernetesVersion, installImage } = imagesOf(texts["controlplane.yaml"]);
    return {
      id: `${minor}/${flag ?? "current"}/${name}`,
      machinery: talosctl.version,
      talosVersionFlag: flag,
      clusterName,
      endpoint,
      secrets,
      kubernetesVersion,
      installImage,
      talosctlArgs: args,
      files,
    };
  });
  writeFileSync(index, jsonFile([...rows.filter((row) => !isOwn(row)), ...made]));
  return made.length;
}

/** The patch files of an option set that another minor release was made with. */
function copyPatches(golden: string, args: readonly string[], minor: string): void {
  for (const path of args.filter((arg) => arg.startsWith("@")).map((arg) => arg.slice(1))) {
    const target = path.replace(/^config\/[\d.]+\//, `config/${minor}/`);
    const text = readFileSync(join(golden, path));
    mkdirSync(dirname(join(golden, target)), { recursive: true });
    writeFileSync(join(golden, target), text);
  }
}

/** What talosctl filled in for options that were not given. */
function imagesOf(config: string): { readonly kubernetesVersion: string; readonly installImage: string } {
  const kubernetesVersion = /image: ghcr\.io\/siderolabs\/kubelet:v(\S+)/.exec(config)?.[1];
  const installImage = /image: (\S+installer\S*)/.exec(config)?.[1];
  if (kubernetesVersion === undefined || installImage === undefined)
    throw new Error("the generated config names no kubelet or no installer");
  return { kubernetesVersion, installImage };
}
