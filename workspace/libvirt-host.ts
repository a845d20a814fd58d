// SPDX-License-Identifier: Apache-2.0
import type { Environment } from "../model/index.ts";
import type { EnvironmentOnDisk } from "./context.ts";
import { runProgram } from "./terraform/run-program.ts";
import { virshPath } from "./virsh.ts";

/** What virsh shows of the host that virtual machines run on. */
export type HostReport =
  | { readonly kind: "seen"; readonly missing: readonly string[] }
  | { readonly kind: "unknown"; readonly reason: string };

/**
 * Looks for the storage pools and the bridge of the environment on its host: an apply would stop at them, after it has
 * made the rest. Undefined for other kinds, and where virsh is missing.
 */
export async function libvirtHost(place: EnvironmentOnDisk): Promise<HostReport | undefined> {
  const { environment, context, root } = place;
  const virsh = virshPath(context.env);
  if (environment.kind !== "libvirt" || virsh === undefined) return undefined;
  const { uri, network } = environment.infrastructure;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(patience)]);
  // Nobody is asked for a password: without one, the host is unknown.
  const env = { ...context.env, SSH_ASKPASS_REQUIRE: "never" };
  const list = async (...words: string[]) => {
    const { code, stdout, stderr } = await runProgram(virsh, ["--connect", uri, ...words], { cwd: root, env, signal });
    return code === 0 ? linesOf(stdout) : new Error(linesOf(stderr)[0] ?? `virsh ended with exit code ${code}`);
  };
  const pools = await list("pool-list", "--name");
  if (pools instanceof Error) return { kind: "unknown", reason: pools.message };
  const missing = [...new Set(poolsOf(environment))]
    .filter((pool) => !pools.includes(pool))
    .map((pool) => `storage pool ${pool} is not active on ${uri}`);
  const devices = network.mode === "bridge" ? await list("nodedev-list", "--cap", "net") : [];
  if (!(devices instanceof Error) && hasNoBridge(devices, network.bridge))
    missing.push(`${uri} has no network bridge ${network.bridge}`);
  return { kind: "seen", missing };
}

/** Over ssh it takes a second or two. */
const patience = 15_000;

const linesOf = (text: string) => text.split("\n").flatMap((line) => line.trim() || []);

/** Those that must be there already. */
function poolsOf({ infrastructure, controlPlane, workers }: Extract<Environment, { kind: "libvirt" }>) {
  const { storagePool } = infrastructure;
  const [common, made] = typeof storagePool === "string" ? [storagePool] : [storagePool.name, storagePool.name];
  return [...(controlPlane === undefined ? [] : [controlPlane]), ...workers]
    .flatMap(({ storagePool: own = common, extraDisks }) => [
      own,
      ...extraDisks.map(({ storagePool: ofDisk = own }) => ofDisk),
    ])
    .filter((pool) => pool !== made);
}

/** libvirt names devices as `net_br0_52_54_00_00_00_01`. A list without the loopback device is not whole. */
function hasNoBridge(devices: readonly string[], bridge: string): boolean {
  const isThere = (name: string) =>
    devices.some((device) => device.replace(/(_[0-9a-f]{2}){6}$/, "") === `net_${name.replaceAll(/\W/g, "_")}`);
  return isThere("lo") && !isThere(bridge);
}
