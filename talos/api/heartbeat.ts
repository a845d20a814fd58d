// SPDX-License-Identifier: Apache-2.0
import { type Client, Metadata, status } from "@grpc/grpc-js";
import { MachineServiceService as service } from "./gen/machine/machine.ts";

/**
 * Finds out that the other side of a quiet stream is gone. A machine that loses its power says nothing, and pings of
 * the library's own would be punished by Go servers; so a small question goes over the same connection now and then.
 * Any answer, even a refusal, is a sign of life.
 */
export function watchConnection(client: Client, interval: number, onLost: () => void): { seen(): void; stop(): void } {
  // By a clock that nobody sets: a corrected time is no silence.
  let last = performance.now();
  let asking = false;
  const ask = () =>
    client.makeUnaryRequest(
      service.version.path,
      service.version.requestSerialize,
      service.version.responseDeserialize,
      {},
      new Metadata(),
      { deadline: Date.now() + interval },
      (error) => {
        asking = false;
        if (error?.code === status.DEADLINE_EXCEEDED || error?.code === status.UNAVAILABLE) onLost();
        else last = performance.now();
      },
    );
  const timer = setInterval(() => {
    if (asking || performance.now() - last < interval) return;
    asking = true;
    try {
      ask();
    } catch {
      // The library throws when somebody has closed the client.
      onLost();
    }
  }, interval / 2);
  timer.unref();
  return {
    seen: () => {
      last = performance.now();
    },
    stop: () => clearInterval(timer),
  };
}
