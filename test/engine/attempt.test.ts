// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { attempt } from "../../engine/execute/wait.ts";
import { TalosError, type TalosErrorCode } from "../../talos/errors.ts";

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
