// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { canBind, firstHost, lastHost, networkAt, noAddress, type Probe } from "../control/loopback.ts";

/** The lowest free address in the networks, undefined when all are taken. */
export function freeAddress(networks: readonly string[], taken: ReadonlySet<string>): string | undefined {
  for (const network of networks) {
    for (let host = firstHost; host <= lastHost; host += 1) {
      const address = `${network}.${host}`;
      if (!taken.has(address)) return address;
    }
  }
  return undefined;
}

/**
 * A /24 of 127/8 (its first three numbers) that nobody uses: the search starts at a place that follows from the state
 * directory, so that two checkouts do not meet even when one of them sleeps, and tries the ports that machines need.
 */
export async function findNetwork(
  directory: string,
  known: readonly string[],
  ports: readonly number[],
  probe: Probe = canBind,
): Promise<string> {
  for (let attempt = 0; attempt < 256; attempt += 1) {
    const network = networkAt(directory, attempt);
    if (known.includes(network)) continue;
    const at = (host: number) => Promise.all(ports.map((port) => probe(`${network}.${host}`, port)));
    const [first, last] = await Promise.all([at(firstHost), at(lastHost)]);
    if (first.includes("unavailable")) throw noAddress([`${network}.${firstHost}`]);
    // A system that was given single addresses, as macOS is, need not have the last one.
    if (![...first, ...last].includes("taken")) return network;
  }
  throw new TalosError("failed-precondition", "no free /24 in 127.0.0.0/8 for simulated machines", {
    hint: `Something listens at port ${ports.join(" or ")} of every address (ss -ltnp tells what); end it, then run this again.`,
  });
}

/** Throws for an address that the system does not have: a machine there would never be heard. */
export async function requireAddress(address: string, probe: Probe = canBind): Promise<string> {
  if ((await probe(address, 0)) === "unavailable") throw noAddress([address]);
  return address;
}
