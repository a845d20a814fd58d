// SPDX-License-Identifier: Apache-2.0
import { type MachineConfig, machineFacts } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { filled, given } from "../../talos/given.ts";
import type { Data } from "../../talos/yaml/index.ts";
import { clusterSettings, differing, settingsIn } from "../settings/index.ts";
import type { AdoptedMachine } from "./live.ts";
import type { AdoptSource } from "./source.ts";

/** Patches by machine name. */
export type MachinePatches = ReadonlyMap<string, readonly Data[]>;

/** What an environment says beyond what its machines' facts tell. */
export interface Additions {
  readonly patches?: MachinePatches;
  /** With patches for all machines that hold secrets. */
  readonly patchFiles?: readonly string[];
  /** @default where an environment looks for it anyway */
  readonly secretsFile?: string;
}

/** The environment file's data for machines that run: all that has a field of its own there. */
export function environmentData(
  machines: readonly AdoptedMachine[],
  sections: AdoptSource["sections"],
  { patches = new Map(), patchFiles = [], secretsFile }: Additions = {},
): Data {
  const [first] = machines;
  if (first?.role !== "controlplane") throw new TalosError("failed-precondition", "found no control plane");
  for (const { name } of machines)
    if (!/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/.test(name))
      throw new TalosError("invalid-input", `the machine ${name} has a name that an environment cannot have`, {
        hint: "Expected at most 40 lower-case letters, digits and hyphens, beginning with a letter. Give it another host name first.",
      });
  const versions = new Set(machines.map(({ talosVersion }) => talosVersion));
  if (versions.size > 1)
    throw new TalosError(
      "failed-precondition",
      `the machines run different Talos releases: ${[...versions].join(", ")}`,
      {
        hint: "Finish the upgrade first; an environment has one release.",
      },
    );
  const facts = machines.map(({ config }) => machineFacts(config));
  const [plane] = facts;
  if (plane === undefined) throw new TalosError("internal", "no facts of a control plane");
  const images = new Set(facts.map(({ installImage }) => installImage));
  const disks = new Set(facts.map(({ installDisk }) => installDisk));
  const sans = new Set(facts.map(({ certSans }) => certSans.join()));
  const { domain, podCidrs, serviceCidrs, discovery } = settingsIn(clusterSettings, { ...plane });
  const scheduling = plane.allowSchedulingOnControlPlanes;
  return {
    cluster: {
      name: plane.clusterName,
      talosVersion: first.talosVersion,
      kubernetesVersion: plane.kubernetesVersion,
      endpoint: plane.endpoint,
      ...differing(clusterSettings, {
        domain,
        // A config without networks has Talos's own.
        podCidrs: filled(podCidrs ?? []),
        serviceCidrs: filled(serviceCidrs ?? []),
        discovery,
      }),
      ...cniOf(first.config),
      allowSchedulingOnControlPlanes: scheduling,
      ...given({
        certSans: sans.size === 1 ? filled(plane.certSans) : undefined,
        installDisk: disks.size === 1 ? plane.installDisk : undefined,
        installImage: images.size === 1 ? plane.installImage : undefined,
        patches: filled(patchSections(machines, patches)),
        patchFiles: filled(patchFiles),
      }),
    },
    infrastructure: {
      kind: "metal",
      machines: Object.fromEntries(
        machines.map(({ name, role, address }, index) => {
          const { installDisk, installImage } = facts[index] ?? {};
          const disk = disks.size === 1 ? undefined : installDisk;
          const image = images.size === 1 ? undefined : installImage;
          return [name, given({ address, role, adopted: true, disk, image })];
        }),
      ),
    },
    controlPlane: {},
    ...given({ secrets: secretsFile === undefined ? undefined : { file: secretsFile } }),
    ...sections,
  };
}

function cniOf(config: MachineConfig): Data {
  if (config.documents.has("KubeClusterConfig"))
    return config.documents.has("KubeFlannelCNIConfig") ? {} : { cni: "none" };
  const name = config.textAt("cluster.network.cni.name");
  if (name === "none") return { cni: "none" };
  const urls = config.textsAt("cluster.network.cni.urls");
  return name === "custom" && urls.length > 0 ? { cni: { urls } } : {};
}

/** Each patch where it says the most: for all machines, for those of a role, or for single ones. */
function patchSections(machines: readonly AdoptedMachine[], patches: MachinePatches): Data {
  const of = ({ name }: AdoptedMachine) => JSON.stringify(patches.get(name) ?? []);
  const shared = (some: readonly AdoptedMachine[]) => {
    const [first] = some;
    return first !== undefined && some.every((machine) => of(machine) === of(first))
      ? patches.get(first.name)
      : undefined;
  };
  const all = shared(machines);
  const roles = { controlplane: "controlPlane", worker: "worker" } as const;
  const sections: { [key: string]: unknown } = {};
  if (all !== undefined) sections.all = all;
  else
    for (const role of ["controlplane", "worker"] as const) {
      const some = machines.filter((machine) => machine.role === role);
      const common = shared(some);
      if (common !== undefined) sections[roles[role]] = common;
      else
        sections.machines = {
          ...(sections.machines as Data | undefined),
          ...Object.fromEntries(some.map(({ name }) => [name, patches.get(name) ?? []])),
        };
    }
  return Object.fromEntries(Object.entries(sections).filter(([, value]) => !Array.isArray(value) || value.length > 0));
}
