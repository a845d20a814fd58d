// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { textIfThere } from "../../talos/atomic-file.ts";
import { TalosError } from "../../talos/errors.ts";

/** Host numbers for machines in each /24; those above are for shared addresses. */
export const firstHost = 2;
export const lastHost = 199;

/** Whether something could listen there; `unavailable`: the system has no such address. Port 0 takes any. */
export type Probe = (host: string, port: number) => Promise<"free" | "taken" | "unavailable">;

export const canBind: Probe = (host, port) =>
  new Promise((answer) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) =>
      answer(error.code === "EADDRNOTAVAIL" ? "unavailable" : "taken"),
    );
    server.listen(port, host, () => server.close(() => answer("free")));
  });

/** The /24 of 127/8 that a state directory tries first, or after so many others. */
export function networkAt(directory: string, attempt: number): string {
  const digest = createHash("sha256").update(`${directory}/${attempt}`).digest();
  // Low second numbers are left alone: systems put their own services there (127.0.0.53, 127.0.1.1).
  return `127.${16 + (digest.readUInt8(0) % 224)}.${digest.readUInt8(1)}`;
}

const networksFile = "networks.json";

export const networksPath = (directory: string): string => join(directory, networksFile);

/** The networks that a state directory has. */
export async function readNetworks(directory: string): Promise<string[]> {
  return JSON.parse((await textIfThere(networksPath(directory))) ?? "[]") as string[];
}

/**
 * Addresses that so many machines of a state directory need and the system does not have. Linux and Windows have all of
 * 127/8; macOS has 127.0.0.1 until others are added.
 */
export async function missingAddresses(
  directory: string,
  count: number,
  probe: Probe = canBind,
): Promise<readonly string[]> {
  const [network = networkAt(resolve(directory), 0)] = await readNetworks(directory);
  if ((await probe(`${network}.${lastHost}`, 0)) !== "unavailable") return [];
  const hosts = Array.from({ length: Math.min(count, lastHost - firstHost + 1) }, (_, index) => firstHost + index);
  const addresses = hosts.map((host) => `${network}.${host}`);
  const found = await Promise.all(addresses.map((address) => probe(address, 0)));
  return addresses.filter((_, index) => found[index] === "unavailable");
}

/** Says what to run for addresses that the system does not have. */
export function noAddress(addresses: readonly string[]): TalosError {
  const commands = addresses.map((address) => `sudo ifconfig lo0 alias ${address} up`);
  return new TalosError("failed-precondition", `this system has no loopback address ${addresses.join(", ")}`, {
    hint: `Simulated machines listen there. Add it, again after each restart of the system:\n  ${commands.join(" &&\n  ")}`,
  });
}
