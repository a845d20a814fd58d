// SPDX-License-Identifier: Apache-2.0
import { settingPath, settingRules, valueRules } from "../../model/cluster-rules.ts";
import { clusterSettings, settingsIn } from "../../model/settings/index.ts";
import { type ClusterConfig, generateConfigWithFacts } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { defaultInstallImage } from "../../talos/image/index.ts";
import { parseMetaKey } from "../../talos/meta-key.ts";
import { caFingerprint, type SecretsBundle } from "../../talos/secrets/index.ts";
import {
  type ClusterSpec,
  type DesiredCluster,
  type DesiredMachine,
  type MachineSpec,
  withoutConfig,
} from "../desired.ts";
import type { Whereabouts } from "../observe/talos-machines.ts";

/** Renders every machine's config. Pure: the same spec and secrets give the same bytes. */
export function desiredCluster(spec: ClusterSpec, secrets: SecretsBundle): DesiredCluster {
  return new Rendering(spec, secrets).whole();
}

/** A cluster whose configs may still have to be made. */
export interface Renderable {
  readonly whereabouts: Whereabouts;
  /** In the order of the whole; each is made when it is asked for. */
  machines(): Iterable<DesiredMachine>;
  whole(): DesiredCluster;
}

/** Renders one config after another, each once. */
export class Rendering implements Renderable {
  readonly #spec: ClusterSpec;
  readonly #config: ClusterConfig;
  readonly #secrets: SecretsBundle;
  readonly #specs: readonly MachineSpec[];
  readonly #rendered: DesiredMachine[] = [];

  constructor(spec: ClusterSpec, secrets: SecretsBundle) {
    const faults = specFaults(spec);
    if (faults.length > 0) throw new TalosError("invalid-input", `cluster "${spec.name}": ${faults.join("; ")}`);
    const {
      name: clusterName,
      machines,
      scalingPools: _pools,
      patches: _patches,
      leaving: _leaving,
      talosEndpoints: _ways,
      deletionProtection: _protection,
      trustOnFirstUse: _trust,
      configSource: _source,
      previousContract: _previous,
      placeOf: _place,
      ...options
    } = spec;
    this.#spec = spec;
    this.#config = { ...options, clusterName };
    this.#secrets = secrets;
    this.#specs = [...machines].sort(byRoleAndName);
  }

  get whereabouts(): Whereabouts {
    return this.#spec;
  }

  *machines(): Iterable<DesiredMachine> {
    for (const index of this.#specs.keys()) yield this.#machine(index);
  }

  whole(): DesiredCluster {
    const machines = [...this.machines()];
    return { ...outlineOf(this.#spec), machines, caFingerprint: caFingerprint(this.#secrets) };
  }

  #machine(index: number): DesiredMachine {
    this.#rendered[index] ??= this.#render(this.#specs[index] as MachineSpec);
    return this.#rendered[index];
  }

  #render(machine: MachineSpec): DesiredMachine {
    const { name, role, address, fingerprint, meta, scalingPool, patches: own = [], ...input } = machine;
    const { patches, talosVersion } = this.#spec;
    // The machine's own patches have the last word.
    const all = [patches?.all, role === "controlplane" ? patches?.controlPlane : patches?.worker, own].flatMap(
      (some) => some ?? [],
    );
    const { config, facts } = generateConfigWithFacts(this.#config, this.#secrets, {
      ...input,
      type: role,
      // All machines of a scaling group have one config; the platform names each of them.
      ...given({ hostname: scalingPool === undefined ? name : undefined }),
      patches: all,
    });
    const { installImage, installDisk, hostname, namesItself } = facts;
    // One that names itself was adopted with the name that it has.
    if (scalingPool === undefined && hostname !== name && !namesItself) {
      const found = hostname === undefined ? "takes the host name away" : `sets the host name ${hostname}`;
      throw new TalosError("invalid-input", `machine "${name}": a patch ${found}; a machine's name is its host name`, {
        hint: "Rename the machine instead. Nodes and etcd members are found by this name.",
      });
    }
    return {
      name,
      role,
      address,
      config,
      installImage: installImage ?? defaultInstallImage(talosVersion),
      patches: all.filter((patch) => typeof patch === "string"),
      ...given({ fingerprint, installDisk, scalingPool }),
      ...given({ meta: Object.keys(meta ?? {}).length === 0 ? undefined : meta }),
    };
  }
}

/** The cluster without configs: what can be said before there are secrets. */
export function outlineOf(spec: ClusterSpec): DesiredCluster {
  const { name, endpoint, talosVersion, talosEndpoints, kubernetesVersion, cni, leaving = [] } = spec;
  const { deletionProtection, trustOnFirstUse = false, configSource, contract, previousContract, placeOf } = spec;
  return {
    name,
    endpoint,
    talosVersion,
    contract,
    trustOnFirstUse,
    kubernetesVersion: kubernetesVersion.toString().replace(/^v/, ""),
    nodesBecomeReady: cni?.name !== "none",
    machines: [...spec.machines].sort(byRoleAndName).map(({ name, role, address, fingerprint, meta, scalingPool }) => ({
      ...{ name, role, address, ...withoutConfig },
      ...given({ fingerprint, meta, scalingPool }),
    })),
    leaving: [...leaving].sort(byRoleAndName).map(({ name, role, address }) => ({ name, role, address })),
    ...given({
      talosEndpoints,
      configSource,
      previousContract,
      placeOf,
      deletionProtection: deletionProtection || undefined,
    }),
    caFingerprint: "",
  };
}

function byRoleAndName(a: MachineSpec, b: MachineSpec): number {
  if (a.role !== b.role) return a.role === "controlplane" ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function specFaults(spec: ClusterSpec): string[] {
  const faults: string[] = [];
  if (!spec.machines.some((machine) => machine.role === "controlplane")) {
    faults.push("needs at least one machine with role controlplane");
  }
  const all = [...spec.machines, ...(spec.leaving ?? [])];
  for (const field of ["name", "address"] as const) {
    const seen = new Set<string>();
    for (const machine of all) {
      if (machine[field] === "") faults.push(`a machine has an empty ${field}`);
      else if (seen.has(machine[field])) faults.push(`two machines have the ${field} "${machine[field]}"`);
      seen.add(machine[field]);
    }
  }
  for (const { name } of spec.machines)
    if (name.length > 63)
      faults.push(`the machine name "${name}" is of ${name.length} characters, expected at most 63`);
  const settings = {
    ...settingsIn(clusterSettings, { ...spec }),
    talosVersion: spec.talosVersion.toString(),
    configContract: spec.contract.toString(),
    previousContract: spec.previousContract?.toString(),
  };
  const { kubespanDiscovers, talosReadsContract, contractGoesUp } = settingRules;
  for (const rule of [...Object.values(valueRules), kubespanDiscovers, talosReadsContract, contractGoesUp])
    for (const { path, found, expected } of rule(settings))
      faults.push(`${settingPath(path)}: found ${found}, expected ${expected}`);
  for (const { name, meta = {} } of spec.machines)
    for (const key of Object.keys(meta))
      if (String(parseMetaKey(key)) !== key) faults.push(`${name} has the META key "${key}", expected 0 to 255`);
  return faults;
}
