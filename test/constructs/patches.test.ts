// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "cdktn";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { LibvirtInfrastructure, TalosCluster, TalosStack, WorkerPool } from "../../constructs/index.ts";
import { generateMachineConfig } from "../../talos/config/index.ts";
import { parseSecrets } from "../../talos/secrets/index.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import { machineOf, type StackJson } from "./project.ts";

// Making secrets takes seconds, and any will do.
const secrets = parseSecrets(
  readFileSync(new URL("../golden/secrets/secrets-v1.13.yaml", import.meta.url), "utf8"),
  "secrets.yaml",
);

type Documents = readonly { readonly kind?: string; readonly [key: string]: unknown }[];

it.each(Contract.all().map((contract) => TalosVersion.newestOf(contract)))(
  "labels, taints and the VIP reach the machine config of %s",
  (version) => {
    const folder = mkdtempSync(join(tmpdir(), "talosmith-patches-"));
    try {
      const stack = new TalosStack(new App({ outdir: folder, stackTraces: false }), "test");
      const infrastructure = new LibvirtInfrastructure(stack, "Infrastructure", {
        network: { vip: "10.0.0.100" },
        trustOnFirstUse: true,
      });
      const talosVersion = version.toString();
      const cluster = new TalosCluster(stack, "Default", {
        name: "talos",
        talosVersion,
        infrastructure,
        controlPlane: { count: 1 },
      });
      new WorkerPool(cluster, "w", { count: 1, labels: { tier: "front" }, taints: { dedicated: "gpu:NoSchedule" } });
      const json = stack.toTerraform() as StackJson;
      const documents = (type: "controlplane" | "worker", hostname: string): Documents => {
        const { patches = [] } = machineOf(json, hostname);
        const { endpoint, kubernetesVersion } = cluster;
        const text = generateMachineConfig(
          { clusterName: "talos", endpoint, talosVersion: version, kubernetesVersion },
          secrets,
          { type, hostname, patches },
        );
        return parseAllDocuments(text).map((document) => document.toJS() as Documents[number]);
      };

      const [machine] = documents("controlplane", "talos-cp-1");
      expect(machine).toMatchObject({
        machine: {
          network: {
            interfaces: [{ deviceSelector: { hardwareAddr: "52:54:00:c1:00:01" }, vip: { ip: "10.0.0.100" } }],
          },
        },
      });
      const worker = documents("worker", "talos-w-1");
      const marks = version.contract.kubernetesDocuments
        ? worker.find((document) => document.kind === "KubeNodeConfig")
        : (({ nodeLabels, nodeTaints }) => ({ labels: nodeLabels, taints: nodeTaints }))(
            worker[0]?.machine as Record<string, unknown>,
          );
      expect(marks).toMatchObject({ labels: { tier: "front" }, taints: { dedicated: "gpu:NoSchedule" } });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
