// SPDX-License-Identifier: Apache-2.0
import { applyPatches, parsePatch } from "../../talos/config/index.ts";

/**
 * Talos up to 1.11 writes into `machine.features` what later releases always do, and the host name into
 * `machine.network`. The newer form means the same, but changing to it costs a reboot of its own, right after that of
 * the upgrade; so a machine keeps its form until it has to reboot anyway.
 */
export function inRunningForm(desiredConfig: string, observedConfig: string): string {
  const features = alwaysOn.filter((name) => isSet(observedConfig, name) && !isSet(desiredConfig, name));
  const hostname = /^kind: HostnameConfig\n(?:.*\n)*?hostname: (\S+)$/m.exec(desiredConfig)?.[1];
  if (features.length === 0 || hostname === undefined || /^kind: HostnameConfig$/m.test(observedConfig)) {
    return desiredConfig;
  }
  const machine = { features: Object.fromEntries(features.map((name) => [name, true])), network: { hostname } };
  const patches = [{ apiVersion: "v1alpha1", kind: "HostnameConfig", $patch: "delete" }, { machine }];
  const parsed = patches.map((patch) => parsePatch(JSON.stringify(patch), "the running form"));
  return applyPatches(desiredConfig, parsed, "machine config");
}

const alwaysOn = ["rbac", "stableHostname", "apidCheckExtKeyUsage"];

function isSet(config: string, feature: string): boolean {
  return new RegExp(`^\\s+${feature}: true$`, "m").test(config);
}
