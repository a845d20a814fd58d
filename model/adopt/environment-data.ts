// SPDX-License-Identifier: Apache-2.0
import { cniIn, type MachineConfig, machineFacts } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { filled, given } from "../../talos/given.ts";
import type { Contract } from "../../talos/version/index.ts";
import type { Data } from "../../talos/yaml/index.ts";
import { clusterSettings, differing, settingsIn } from "../settings/index.ts";
import type { AdoptedMachine } from "./live.ts";
import type { AdoptSource } from "./source.ts";

/** Patches by machine name. */
export type MachinePatches = ReadonlyMap<string, readonly Data[]>;

/** What an environment says beyond what its machines' facts tell. */
export interface Additions {
  readonly contract: Contract;
  /** Installer images by machine name that do not follow from the Talos version. */
  readonly images?: ReadonlyMap<string, string>;
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
  { contract, images = new Map(), patches = new Map(), patchFiles = [], secretsFile }: Additions,
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
  const ofAll = new Set(machines.map(({ name }) => images.get(name)));
  const disks = new Set(facts.map(({ installDisk }) => installDisk));
  const sans = new Set(facts.map(({ certSans }) => certSans.join()));
  const { domain, podCidrs, serviceCidrs, discovery } = settingsIn(clusterSettings, { ...plane });
  const scheduling = plane.allowSchedulingOnControlPlanes;
  return {
    cluster: {
      name: plane.clusterName,
      talosVersion: first.talosVersion,
      kubernetesVersion: plane.kubernetesVersion,
      configContract: contract.toString(),
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
        installImage: ofAll.size === 1 ? images.get(first.name) : undefined,
        patches: filled(patchSections(machines, patches)),
        patchFiles: filled(patchFiles),
      }),
    },
    infrastructure: {
      kind: "metal",
      machines: Object.fromEntries(
        machines.map(({ name, role, address }, index) => {
          const disk = disks.size === 1 ? undefined : facts[index]?.installDisk;
          const image = ofAll.size === 1 ? undefined : images.get(name);
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
  const cni = cniIn(config);
  if (cni.name === "flannel") return {};
  return { cni: cni.name === "none" ? cni.name : { urls: cni.urls } };
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
