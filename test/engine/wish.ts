// SPDX-License-Identifier: Apache-2.0
import type { DesiredCluster, DesiredMachine } from "../../engine/index.ts";
import { MachineConfig } from "../../talos/config/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";

export interface Wish {
  readonly controlPlanes?: readonly string[];
  readonly workers?: readonly string[];
  readonly leaving?: readonly string[];
  readonly talos?: string;
  readonly kubernetes?: string;
  /** The image factory's id, or a letter of which one is made. */
  readonly schematic?: string;
  /** A value in a field that takes effect at once. */
  readonly sysctl?: string;
  /** A value in a field that needs a reboot. */
  readonly file?: string;
  /** The installer stands in the config, too, as in every real one: an upgrade leaves a change of it to be applied. */
  readonly installerInConfig?: boolean;
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);

/** A cluster of small configs; three control planes and two workers unless told otherwise. */
export function wish(options: Wish = {}): DesiredCluster {
  const { controlPlanes = names("cp", 3), workers = names("w", 2), leaving = [] } = options;
  const talosVersion = TalosVersion.parse(talosOf(options));
  const kubernetesVersion = options.kubernetes ?? "1.36.3";
  const machine = (name: string, role: "controlplane" | "worker"): DesiredMachine => ({
    name,
    role,
    address: name,
    fingerprint: `print-${name}`,
    installImage: installerOf(options),
    config: new MachineConfig(configText(role, name, kubernetesVersion, options)),
  });
  return {
    name: "test",
    endpoint: "https://cp-1:6443",
    talosVersion,
    contract: talosVersion.contract,
    kubernetesVersion,
    trustOnFirstUse: false,
    nodesBecomeReady: true,
    machines: [
      ...controlPlanes.map((name) => machine(name, "controlplane")),
      ...workers.map((name) => machine(name, "worker")),
    ],
    leaving: leaving.map((name) => ({ name, role: name.startsWith("cp") ? "controlplane" : "worker", address: name })),
    caFingerprint: "ca",
  };
}

const talosOf = ({ talos = "v1.13.9" }: Wish) => talos;

function installerOf(options: Wish): string {
  const factory = "factory.talos.dev/metal-installer";
  const { schematic } = options;
  const repository =
    schematic === undefined ? "ghcr.io/siderolabs/installer" : `${factory}/${schematic.padEnd(64, schematic)}`;
  return `${repository}:${talosOf(options)}`;
}

function configText(role: string, name: string, kubernetes: string, options: Wish): string {
  const { sysctl = "1", file = "a", installerInConfig = false } = options;
  const lines = [
    "version: v1alpha1",
    "machine:",
    `  type: ${role}`,
    "  ca:",
    "    crt: Y2E=",
    ...(role === "controlplane" ? ["    key: a2V5"] : []),
    ...(installerInConfig ? ["  install:", `    image: ${installerOf(options)}`] : []),
    "  kubelet:",
    `    image: ghcr.io/siderolabs/kubelet:v${kubernetes}`,
    "  sysctls:",
    `    vm.nr_hugepages: "${sysctl}"`,
    "  files:",
    `    - content: ${file}`,
    "  network:",
    `    hostname: ${name}`,
  ];
  const components = [
    "apiServer: kube-apiserver",
    "controllerManager: kube-controller-manager",
    "scheduler: kube-scheduler",
    "proxy: kube-proxy",
  ];
  const images = components.flatMap((line) => {
    const [field, image] = line.split(": ");
    return [`  ${field}:`, `    image: registry.k8s.io/${image}:v${kubernetes}`];
  });
  const cluster = ["cluster:", "  controlPlane:", "    endpoint: https://cp-1:6443"];
  return `${[...lines, ...cluster, ...(role === "controlplane" ? images : [])].join("\n")}\n`;
}
