// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { createServer } from "node:net";
import { TalosError } from "../../talos/errors.ts";

/** Host numbers for machines in each /24; those above are for shared addresses. */
const firstHost = 2;
const lastHost = 199;

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
): Promise<string> {
  for (let attempt = 0; attempt < 256; attempt += 1) {
    const digest = createHash("sha256").update(`${directory}/${attempt}`).digest();
    // Low second numbers are left alone: systems put their own services there (127.0.0.53, 127.0.1.1).
    const network = `127.${16 + (digest.readUInt8(0) % 224)}.${digest.readUInt8(1)}`;
    if (known.includes(network)) continue;
    const probes = [firstHost, lastHost].flatMap((host) => ports.map((port) => canBind(`${network}.${host}`, port)));
    const results = await Promise.all(probes);
    if (results.every((result) => result === "free")) return network;
    if (results.includes("unavailable")) {
      throw new TalosError("failed-precondition", `the system has no address ${network}.${firstHost}`, {
        hint: "on macOS add loopback addresses first (sudo ifconfig lo0 alias <address>); see docs/simulator.md",
      });
    }
  }
  throw new TalosError("failed-precondition", "no free /24 in 127.0.0.0/8 for simulated machines", {
    hint: `Something listens at port ${ports.join(" or ")} of every address (ss -ltnp tells what); end it, then run this again.`,
  });
}

function canBind(host: string, port: number): Promise<"free" | "taken" | "unavailable"> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "EADDRNOTAVAIL" ? "unavailable" : "taken"),
    );
    server.listen(port, host, () => server.close(() => resolve("free")));
  });
}
