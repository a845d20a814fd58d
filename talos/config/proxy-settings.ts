// SPDX-License-Identifier: Apache-2.0
import type { Value } from "./document/value.ts";

/** Flags of kube-proxy that are also read beside a file. */
const besideFile = /^(v|vmodule|logging-format|log-flush-frequency|hostname-override)$/;

type Read = (text: string) => Value | undefined;
const text: Read = (value) => value;
const list: Read = (value) => value.split(",").map((item) => item.trim());
const truth: Read = (value) => (value === "true" ? true : value === "false" ? false : undefined);

/** Flags that have a field in kube-proxy's file. */
const fields: Readonly<Record<string, readonly [path: string, read: Read]>> = {
  "proxy-mode": ["mode", text],
  "metrics-bind-address": ["config.metricsBindAddress", text],
  "healthz-bind-address": ["config.healthzBindAddress", text],
  "bind-address": ["config.bindAddress", text],
  "nodeport-addresses": ["config.nodePortAddresses", list],
  "cluster-cidr": ["config.clusterCIDR", text],
  "ipvs-scheduler": ["config.ipvs.scheduler", text],
  "ipvs-strict-arp": ["config.ipvs.strictARP", truth],
  "ipvs-exclude-cidrs": ["config.ipvs.excludeCIDRs", list],
};

/**
 * Where KubeProxyConfig keeps what an extra argument of kube-proxy says: contract 1.14 starts it with a file, and most
 * flags are ignored then. Undefined for a flag whose field is not known here.
 */
export function proxySetting(
  flag: string,
  value: string,
): { readonly path: string; readonly value: Value } | undefined {
  if (besideFile.test(flag)) return { path: `extraArgs.${flag}`, value };
  const [path, read] = Object.hasOwn(fields, flag) ? (fields[flag] ?? []) : [];
  const found = read?.(value);
  return path === undefined || found === undefined ? undefined : { path, value: found };
}
