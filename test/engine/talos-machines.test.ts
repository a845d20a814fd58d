// SPDX-License-Identifier: Apache-2.0
import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { talosMachines } from "../../engine/index.ts";
import { MachineConfig } from "../../talos/config/index.ts";
import { leaf, startServer } from "../talos/api/talos-server.ts";
import { testSecrets, wish } from "./fixture.ts";

test("a config that a machine refuses is told without the machine's diff, which may show secrets", async () => {
  const secrets = testSecrets();
  const { os } = secrets.certs;
  const refusal = "this config change can't be applied in immediate mode";
  const details = `${refusal}\ndiff: @@ -1,2 +1,2 @@\n-  token: old-secret\n+  token: new-secret\n`;
  const server = await startServer(leaf(os, { server: "127.0.0.1" }), os, {
    machine: {
      applyConfiguration: (_call: unknown, callback: (error: unknown) => void) =>
        callback({ code: status.INVALID_ARGUMENT, details }),
    },
  });
  const machines = talosMachines({ desired: wish(), secrets });
  try {
    const machine = { name: "cp-1", role: "controlplane", address: server.address } as const;
    const refused = await machines
      .changeConfig(machine, new MachineConfig("version: v1alpha1"), "no-reboot")
      .catch((error) => error);
    expect(refused).toMatchObject({ code: "invalid-input", message: `${server.address}: ${refusal}` });
    expect(String(refused.cause)).not.toContain("secret");
  } finally {
    machines.close();
    await server.stop();
  }
});
