// SPDX-License-Identifier: Apache-2.0
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { TalosError } from "../../talos/errors.ts";
import { fileError } from "../../talos/file-error.ts";
import type { KubernetesAccess } from "./api.ts";

export interface InCluster {
  readonly access: KubernetesAccess;
  /** The namespace that this process runs in. */
  readonly namespace: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** How a pod reaches the API server of its cluster: by what Kubernetes gives each container. */
export async function inClusterAccess(env: Env): Promise<InCluster> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" } = env;
  if (!host) {
    throw new TalosError("failed-precondition", "this process does not run in a Kubernetes cluster", {
      hint: "KUBERNETES_SERVICE_HOST is not set. Leave out --kubernetes, --lease and TALOSMITH_KUBERNETES_SECRETS elsewhere.",
    });
  }
  const folder = env.TALOSMITH_SERVICE_ACCOUNT ?? "/var/run/secrets/kubernetes.io/serviceaccount";
  const read = async (file: string) => {
    try {
      return (await readFile(join(folder, file), "utf8")).trim();
    } catch (cause) {
      throw fileError(
        "open",
        join(folder, file),
        cause,
        "Give the pod a service account with automountServiceAccountToken.",
      );
    }
  };
  return {
    access: {
      servers: [`https://${host.includes(":") ? `[${host}]` : host}:${port}`],
      ca: await read("ca.crt"),
      // Kubernetes puts a new one there before the old one ends.
      token: () => read("token"),
    },
    namespace: await read("namespace"),
  };
}
