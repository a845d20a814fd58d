// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { parseAddress } from "../../talos/api/index.ts";
import { toPlainData } from "../../talos/yaml/index.ts";
import type { DesiredMachine } from "../desired.ts";
import { configDocuments } from "./config-documents.ts";

const names = z.array(z.string()).catch([]);
const legacy = z.object({
  cluster: z.object({
    controlPlane: z.object({ endpoint: z.string() }).catch({ endpoint: "" }),
    apiServer: z.object({ certSANs: names }).catch({ certSANs: [] }),
  }),
});
const cluster = z.object({ kind: z.literal("KubeClusterConfig"), endpoint: z.string() });
const apiServer = z.object({ kind: z.literal("KubeAPIServerConfig"), certExtraSANs: names });

/**
 * What the certificate of the Kubernetes API will be for, as far as a control plane's config decides it: the endpoint,
 * the extra names, and the machine's own address and name.
 */
export function apiServerNames(
  config: string,
  machines: readonly Pick<DesiredMachine, "name" | "address" | "role">[],
): readonly string[] {
  const documents = configDocuments(config).map(toPlainData);
  const found = documents.flatMap((document) => {
    const old = legacy.safeParse(document).data?.cluster;
    const endpoint = old?.controlPlane.endpoint ?? cluster.safeParse(document).data?.endpoint ?? "";
    const extra = old?.apiServer.certSANs ?? apiServer.safeParse(document).data?.certExtraSANs ?? [];
    return [...(URL.canParse(endpoint) ? [bare(new URL(endpoint).hostname)] : []), ...extra];
  });
  const own = machines
    .filter(({ role }) => role === "controlplane")
    .flatMap(({ name, address }) => [name, parseAddress(address).host]);
  return [...found, ...own];
}

function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
