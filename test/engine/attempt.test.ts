// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { attempt, waitUntil, withElapsed } from "../../engine/execute/wait.ts";
import { TalosError, type TalosErrorCode } from "../../talos/errors.ts";
import { VirtualTiming } from "./virtual-timing.ts";

test.each<[TalosErrorCode, string, boolean]>([
  ["unavailable", "refused", true],
  ["failed-precondition", "etcd is not ready", true],
  ["unimplemented", "cp-1: machine type is not set, cannot use etcd recover API", true],
  ["unimplemented", "w-1: etcd recover is not available on worker nodes", false],
  ["permission-denied", "not authorized", false],
])("after %s, %s, it is tried again: %s", async (code, message, again) => {
  const failing = attempt(() => Promise.reject(new TalosError(code, message)));
  if (again) expect(await failing).toBe(message);
  else await expect(failing).rejects.toMatchObject({ code, message });
});

test("what worked is not tried again", async () => {
  expect(await attempt(() => Promise.resolve("done"))).toBeUndefined();
});

test("a wait says how long it has taken, once it takes long", async () => {
  const timing = new VirtualTiming();
  const told: string[] = [];
  const options = {
    timing,
    timeout: 12_000,
    what: "wait",
    onWaiting: (reason: string, waited: number) => told.push(withElapsed(reason, waited)),
  };
  await expect(waitUntil(async () => "etcd is starting", options)).rejects.toThrow("not done after 12 s");
  expect(told).toEqual([
    "etcd is starting",
    "etcd is starting (6 s)",
    expect.stringMatching(/^etcd is starting \(1[01] s\)$/),
  ]);
});
