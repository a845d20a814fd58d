// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { cleanEnvironment } from "../../test/support/terraform.ts";
import type { Cluster, Lab } from "./lab.ts";
import { type Ended, Programs } from "./programs.ts";

/** The image of the registry that answers "OK" on port 8080 (coredns stands behind that name in the lab). */
const image = "registry.k8s.io/coredns/coredns:v1.14.6";

const sysctlName = "net.ipv4.ip_local_port_range";
const sysctlValue = (number: number) => `${10_000 + number} 60000`;

/** A project in a folder of its own, and the programs that run in it. */
export class Project extends Programs {
  readonly lab: Lab;
  cluster: Cluster = { kubernetes: "1.36.1", controlPlanes: 1, workers: 1, sysctl: 1, addon: false };

  constructor(lab: Lab) {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "talosmith-real-")));
    const env = cleanEnvironment({ HOME: join(root, "home"), TMPDIR: join(root, "tmp") });
    super({ root, name: "trial", within: lab.within, env });
    this.lab = lab;
    for (const folder of ["home", "tmp", "environments", "charts/app/templates"])
      mkdirSync(join(this.root, folder), { recursive: true });
    writeFileSync(join(this.root, "cdktf.json"), "{}");
    writeFileSync(join(this.root, "charts/app/Chart.yaml"), "apiVersion: v2\nname: app\nversion: 0.1.0\n");
    writeFileSync(join(this.root, "charts/app/templates/app.yaml"), JSON.stringify(deployment("app-of-chart")));
  }

  /** Changes the environment file, and powers its machines on. */
  write(change: Partial<Cluster>): void {
    this.writeFile(change);
    this.lab.power(this.cluster);
  }

  /** Only the file: machines that leave the cluster must still answer. */
  writeFile(change: Partial<Cluster>): void {
    this.cluster = { ...this.cluster, ...change };
    const { kubernetes, sysctl, addon } = this.cluster;
    const machine = { sysctls: { [sysctlName]: sysctlValue(sysctl) } };
    const environment = {
      ...this.lab.environment(this.cluster),
      cluster: {
        ...this.lab.settings,
        configContract: "v1.13",
        talosVersion: "v1.13.9",
        kubernetesVersion: kubernetes,
        patches: { all: [...this.lab.patches, { machine }] },
      },
      rollout: { drainTimeout: "20s" },
      backup: { directory: "backups/trial" },
      ...(addon ? { addons: [{ name: "app", namespace: "apps", chart: "./charts/app", timeout: "5m" }] } : {}),
    };
    writeFileSync(join(this.root, "environments/trial.yaml"), JSON.stringify(environment, undefined, 2));
  }

  /** Gives a machine another config than the file says, as somebody with talosctl would. */
  async changeBehindTheBack(machine: string): Promise<Ended> {
    const target = ["-e", "trial", "-n", machine];
    const got = await this.talosmith(["get", "machineconfig", "v1alpha1", ...target, "--json"]);
    const { spec } = z.object({ spec: z.string() }).parse(JSON.parse(got.stdout));
    const file = join(this.root, "tmp/changed.yaml");
    writeFileSync(file, spec.replace(sysctlValue(this.cluster.sysctl), sysctlValue(9999)), { mode: 0o600 });
    return this.talosmith(["apply", ...target, "-f", file, "--mode", "no-reboot"]);
  }
}

/** A Deployment whose pod answers on port 8080; on one node where it is named. */
export function deployment(name: string, node?: string): unknown {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          ...(node === undefined ? {} : { nodeSelector: { "kubernetes.io/hostname": node } }),
          terminationGracePeriodSeconds: 1,
          containers: [{ name: "app", image, ports: [{ containerPort: 8080 }] }],
        },
      },
    },
  };
}

export const service = (name: string): unknown => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { type: "NodePort", selector: { app: name }, ports: [{ port: 8080 }] },
});

export const budget = (name: string): unknown => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name },
  spec: { minAvailable: 1, selector: { matchLabels: { app: name } } },
});

export const configMap = (name: string): unknown => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
