// SPDX-License-Identifier: Apache-2.0
import { configChange, type MachineConfig, parsePatch } from "../../talos/config/index.ts";
import { KubernetesVersion } from "../../talos/version/index.ts";
import type { DesiredMachine } from "../desired.ts";
import type { ObservedCluster } from "../observed.ts";
import type { KubernetesComponent } from "../step.ts";
import { componentImages, imageVersion, withRunningVersions } from "./component-images.ts";
import { configured } from "./quorum.ts";

/**
 * The desired config with the versions of Kubernetes that are in use, which only their own steps change, and in the form
 * that the machine runs, unless it has to reboot anyway.
 */
export function configHeldBack(desired: MachineConfig, active: MachineConfig): MachineConfig {
  const held = withRunningVersions(desired, componentImages(active));
  const sameForm = inRunningForm(held, active);
  return sameForm === held || configChange(active, sameForm)?.reboot === true ? held : sameForm;
}

/** The versions that a machine should join with: those of the cluster where there is one, so that nothing runs ahead. */
export function configToJoin(machine: DesiredMachine, observed: ObservedCluster): MachineConfig {
  const oldest = new Map<KubernetesComponent, string>();
  for (const other of observed.machines.values()) {
    const config = configured(other)?.config;
    if (config === undefined) continue;
    for (const [component, image] of componentImages(config)) {
      const [version, least] = [imageVersion(image), imageVersion(oldest.get(component) ?? "")];
      if (version !== undefined && (least === undefined || older(version, least))) oldest.set(component, image);
    }
  }
  return withRunningVersions(machine.config, oldest);
}

function older(left: string, right: string): boolean {
  return KubernetesVersion.parse(left).compare(KubernetesVersion.parse(right)) < 0;
}

const alwaysOn = ["rbac", "stableHostname", "apidCheckExtKeyUsage"];

/**
 * Talos up to 1.11 writes into `machine.features` what later releases always do, and the host name into
 * `machine.network`. The newer form means the same, but changing to it costs a reboot of its own, right after that of
 * the upgrade; so a machine keeps its form until it has to reboot anyway.
 */
function inRunningForm(desired: MachineConfig, active: MachineConfig): MachineConfig {
  const isSet = (config: MachineConfig, name: string) => config.value(`machine.features.${name}`) === true;
  const features = alwaysOn.filter((name) => isSet(active, name) && !isSet(desired, name));
  const hostname = desired.textAt("HostnameConfig:hostname");
  if (features.length === 0 || hostname === undefined || active.documents.has("HostnameConfig")) return desired;
  const machine = { features: Object.fromEntries(features.map((name) => [name, true])), network: { hostname } };
  const patches = [{ apiVersion: "v1alpha1", kind: "HostnameConfig", $patch: "delete" }, { machine }];
  return desired.patched(patches.map((patch) => parsePatch(JSON.stringify(patch), "the running form")));
}
