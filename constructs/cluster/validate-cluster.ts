// SPDX-License-Identifier: Apache-2.0
import { defaultTalosVersion, KubernetesVersion, TalosVersion } from "../../talos/version/index.ts";

interface ClusterFacts {
  readonly name: string;
  readonly talosVersion?: string;
  readonly kubernetesVersion?: string;
  readonly endpoint?: string;
  readonly secretsFile?: string;
  readonly outputFolder?: string;
}

function isKnown(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

function kubernetesFits({ talosVersion, kubernetesVersion }: ClusterFacts): boolean {
  if (kubernetesVersion === undefined) return true;
  const talos = talosVersion === undefined ? defaultTalosVersion : TalosVersion.parse(talosVersion);
  return talos.supportsKubernetes(KubernetesVersion.parse(kubernetesVersion));
}

const isInside = (path: string | undefined) =>
  path === undefined || !(path.startsWith("/") || path.split("/").includes(".."));

/** Each row: what must hold, and what to say of a cluster for which it does not. */
const rules: readonly {
  readonly holds: (cluster: ClusterFacts) => boolean;
  readonly message: (cluster: ClusterFacts) => string;
}[] = [
  {
    holds: ({ name }) => /^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/.test(name),
    message: ({ name }) =>
      `name is ${JSON.stringify(name)}; expected at most 40 lower-case letters, digits and hyphens, a letter first`,
  },
  {
    holds: ({ talosVersion }) => talosVersion === undefined || isKnown(() => TalosVersion.parse(talosVersion)),
    message: ({ talosVersion }) =>
      `talosVersion is ${JSON.stringify(talosVersion)}; expected a known release such as ${defaultTalosVersion.toString()}`,
  },
  {
    holds: (cluster) => !isKnown(() => kubernetesFits(cluster)) || kubernetesFits(cluster),
    message: ({ kubernetesVersion, talosVersion }) =>
      `kubernetesVersion ${kubernetesVersion} does not run on Talos ${talosVersion ?? defaultTalosVersion.toString()}`,
  },
  {
    holds: ({ kubernetesVersion }) =>
      kubernetesVersion === undefined || isKnown(() => KubernetesVersion.parse(kubernetesVersion)),
    message: ({ kubernetesVersion }) =>
      `kubernetesVersion is ${JSON.stringify(kubernetesVersion)}; expected a version such as 1.36.3`,
  },
  {
    holds: ({ endpoint }) => endpoint === undefined || endpoint.startsWith("https://"),
    message: ({ endpoint }) => `endpoint is ${JSON.stringify(endpoint)}; expected a URL that begins with https://`,
  },
  {
    holds: ({ secretsFile, outputFolder }) => isInside(secretsFile) && isInside(outputFolder),
    message: () => "secretsFile or outputFolder leaves the project; expected relative paths without ..",
  },
];

/** Everything that is wrong with the props of a cluster, in words. */
export function validateCluster(cluster: ClusterFacts): readonly string[] {
  return rules.filter(({ holds }) => !holds(cluster)).map(({ message }) => message(cluster));
}
