// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type ClusterConfig, generateMachineConfig } from "../../../talos/config/index.ts";
import { parseSecrets } from "../../../talos/secrets/index.ts";
import { Contract, TalosVersion } from "../../../talos/version/index.ts";

interface Case {
  readonly id: string;
  readonly machinery: string;
  readonly talosVersionFlag: string | null;
  readonly clusterName: string;
  readonly endpoint: string;
  readonly secrets: string;
  readonly kubernetesVersion: string;
  readonly installImage: string;
  readonly talosctlArgs: readonly string[];
  readonly files: { readonly "controlplane.yaml": string; readonly "worker.yaml": string };
}

const golden = new URL("../../golden/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, golden), "utf8");
const cases: readonly Case[] = JSON.parse(read("config/index.json"));

/** Turns talosctl's arguments into our options, as the command does. */
function optionsOf(row: Case): {
  cluster: ClusterConfig;
  patches: Record<"all" | "controlplane" | "worker", string[]>;
} {
  const additionalSans: string[] = [];
  const registryMirrors: Record<string, string[]> = {};
  const patches = { all: [] as string[], controlplane: [] as string[], worker: [] as string[] };
  const extra: { -readonly [Key in keyof ClusterConfig]?: ClusterConfig[Key] } = {};
  const args = row.talosctlArgs.flatMap((arg) => arg.split(/(?<=^--[a-z-]+)=/));
  for (let at = 0; at < args.length; at += 1) {
    const flag = args[at];
    if (flag === "--with-kubespan") {
      extra.kubespan = true;
      continue;
    }
    at += 1;
    const value = args[at] ?? "";
    if (flag === "--install-disk") extra.installDisk = value;
    else if (flag === "--install-image") extra.installImage = value;
    else if (flag === "--kubernetes-version") extra.kubernetesVersion = value;
    else if (flag === "--additional-sans") additionalSans.push(value);
    else if (flag === "--dns-domain") extra.dnsDomain = value;
    else if (flag === "--with-cluster-discovery") extra.discovery = value === "true";
    else if (flag === "--registry-mirror") {
      const [host = "", url = ""] = value.split(/=(.*)/s);
      registryMirrors[host] = [...(registryMirrors[host] ?? []), url];
    } else if (flag === "--config-patch") patches.all.push(read(value.slice(1)));
    else if (flag === "--config-patch-control-plane") patches.controlplane.push(read(value.slice(1)));
    else if (flag === "--config-patch-worker") patches.worker.push(read(value.slice(1)));
    else throw new Error(`unknown flag ${flag}`);
  }
  return {
    patches,
    cluster: {
      clusterName: row.clusterName,
      endpoint: row.endpoint,
      talosVersion: TalosVersion.parse(row.machinery),
      kubernetesVersion: row.kubernetesVersion,
      installImage: row.installImage,
      additionalSans,
      registryMirrors,
      ...(row.talosVersionFlag === null ? {} : { contract: Contract.parse(row.talosVersionFlag) }),
      ...extra,
    },
  };
}

describe("a machine config is byte-equal to talosctl's", () => {
  test.each(cases.map((row) => [row.id, row] as const))("%s", (_, row) => {
    const { cluster, patches } = optionsOf(row);
    const secrets = parseSecrets(read(row.secrets), row.secrets);
    for (const type of ["controlplane", "worker"] as const) {
      const text = generateMachineConfig(cluster, secrets, { type, patches: [...patches.all, ...patches[type]] });
      expect(text).toBe(read(row.files[`${type}.yaml`]));
    }
  });
});
