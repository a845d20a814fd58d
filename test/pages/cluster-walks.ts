// SPDX-License-Identifier: Apache-2.0
// Pages that take a cluster for given, typed against one on the simulator.
import { resolve } from "node:path";
import { findProgram } from "../support/programs.ts";
import type { Walk } from "./walk.ts";
import { type ClusterOptions, noTerraform, openCluster, openProject, terraform } from "./worlds.ts";

const onSimulator = "a cluster on the simulator";
/** A machine that was wiped takes a moment to come up empty. */
const wiped = [
  "npx talosmith reset -n 10.0.0.70 --graceful=false --reboot --yes",
  "until npx talosmith get disks -n 10.0.0.70 --insecure; do sleep 0.2; done",
];
/** The worker that was reset is off, and doctor would say so. */
const backAgain = [
  "npx talosmith sim power lab-w-1 on",
  "until npx talosmith get disks -n 10.0.0.80 --insecure; do sleep 0.2; done",
  "npx talosmith up lab",
];
const runningConfig = (file: string) =>
  `npx talosmith get mc v1alpha1 -n 10.0.0.70 -o json | node -p 'JSON.parse(fs.readFileSync(0)).spec' > ${file}`;
const configFiles = [
  runningConfig("cp-1.yaml"),
  "cp cp-1.yaml old.yaml; cp cp-1.yaml new.yaml; echo >> new.yaml",
  "echo 'machine: { sysctls: { a.b: \"1\" } }' > patch.yaml",
];
/** Programs of others that are on few computers, or what stands in for them. */
const sops = findProgram("sops") ?? resolve("test/support/stand-in-sops.sh");
const age = findProgram("age") ?? resolve("test/support/stand-in-age.mjs");
const helm = process.env.TALOSMITH_HELM ?? findProgram("helm");
/** A cluster that terraform made. */
const openDeployed = async (options: ClusterOptions & { readonly name: string }) =>
  terraform === undefined
    ? noTerraform
    : openCluster({ first: [`npx talosmith deploy ${options.name} --yes`], programs: { terraform }, ...options });
const ofTerraform = "a cluster of the real terraform's on the simulator";

const upgradeLocal = ["upgrade talos", "plan", "deploy"].map((words) => `npx talosmith ${words} local`);

export const clusterWalks: readonly Walk[] = [
  {
    page: "docs/quick-reference.md",
    name: onSimulator,
    open: () => openCluster({ versions: "talosVersion: v1.13.8, kubernetesVersion: 1.35.4" }),
    except: ["npx talosmith init lab", "npx talosmith deploy lab"],
    before: {
      "npx talosmith apply": configFiles,
      "npx talosmith restore lab": wiped,
      "npx talosmith doctor": backAgain,
    },
  },
  { page: "docs/troubleshooting.md", name: onSimulator, open: () => openCluster() },
  {
    page: "docs/operations.md",
    name: onSimulator,
    open: () => openCluster({ first: ["npx talosmith up lab", "npx talosmith backup create lab"] }),
  },
  {
    page: "docs/secrets.md",
    name: onSimulator,
    quick: true,
    open: () => openCluster(),
    except: ["npx talosmith gen secrets"],
  },
  {
    page: "docs/secrets.md",
    name: "a new project, with a stand-in for sops",
    open: async () => openProject({ programs: { sops } }),
    only: ["npx talosmith gen secrets"],
  },
  {
    page: "docs/backups.md",
    name: onSimulator,
    open: () => openCluster({ name: "local" }),
    before: { "npx talosmith restore local": wiped },
  },
  {
    page: "docs/aws.md",
    name: onSimulator,
    open: () => openCluster({ name: "staging" }),
    only: ["npx talosmith operate", "npx talosmith backup"],
  },
  { page: "docs/scale.md", name: onSimulator, open: () => openCluster(), except: ["terraform"] },
  {
    page: "docs/kubernetes-upgrade.md",
    name: onSimulator,
    open: () => openCluster({ versions: "kubernetesVersion: 1.35.4" }),
  },
  {
    page: "docs/upgrade.md",
    name: onSimulator,
    open: () => openCluster({ versions: "talosVersion: v1.12.11, kubernetesVersion: 1.35.4" }),
    except: upgradeLocal,
  },
  {
    page: "docs/contract.md",
    name: onSimulator,
    open: () => openCluster({ versions: "talosVersion: v1.14.1, kubernetesVersion: 1.36.3, configContract: v1.13" }),
  },
  { page: "docs/how-talos-works.md", name: onSimulator, open: () => openCluster() },
  { page: "docs/ui.md", name: onSimulator, open: () => openCluster() },
  {
    page: "docs/operate.md",
    name: "two clusters on the simulator, one of which has the operator",
    open: () =>
      openCluster({
        programs: { helm },
        first: [
          "npx talosmith up lab",
          "cp environments/lab.yaml environments/production.yaml && npx talosmith up production",
          `ln -s ${resolve("deploy")} deploy && echo 'environments: {}' > clusters.yaml`,
          "export KUBECONFIG=$PWD/generated/production/kubeconfig",
        ],
      }),
    before: {
      "kubectl --namespace talosmith": ["kubectl get namespace talosmith || kubectl create namespace talosmith"],
    },
  },
  {
    page: "docs/break-glass.md",
    name: `${onSimulator}, and another implementation of age where the program is missing`,
    open: () =>
      openCluster({
        programs: { age },
        first: ["npx talosmith up lab", "npx talosmith backup create lab"],
      }),
    except: ["terraform force-unlock"],
    before: {
      "age -d": [
        "rm secrets/lab.yaml",
        'cp "$(ls backups/*.age backups/*/*.age 2>/dev/null | head -1)" lab.secrets.age',
      ],
      "npx talosmith gen secrets": ["rm secrets/lab.yaml", runningConfig("controlplane.yaml")],
      "npx talosmith restore lab --from latest": ["npx talosmith backup create lab", ...wiped],
    },
  },
  {
    page: "docs/upgrade.md",
    name: ofTerraform,
    open: () => openDeployed({ name: "local", versions: "talosVersion: v1.12.11, kubernetesVersion: 1.35.4" }),
    only: upgradeLocal,
  },
  {
    page: "docs/scale.md",
    name: ofTerraform,
    open: async () => {
      const world = await openDeployed({ name: "lab" });
      if ("missing" in world) return world;
      return {
        ...world,
        put: { ...world.put, "<address of the machine>": 'talosmith_simulated_machine.worker["w-1"]' },
      };
    },
    only: ["terraform apply"],
    before: { "terraform apply": ["cd cdktf.out/stacks/lab"] },
    shows: { "terraform apply -replace": 'talosmith_simulated_machine.worker["w-1"]: Creation complete' },
  },
];
