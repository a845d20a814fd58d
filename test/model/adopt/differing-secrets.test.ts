// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { differingSecrets } from "../../../model/adopt/index.ts";

const registry = (password: string) => ({ machine: { registries: { config: { "r.test": { auth: { password } } } } } });
const service = (key: string) => ({
  apiVersion: "v1alpha1",
  kind: "ExtensionServiceConfig",
  name: "vpn",
  environment: [key],
});

test("names each secret that differs, and which machines have which, without a value", () => {
  expect(
    differingSecrets([
      { name: "cp-1", secret: [registry("SECRET-1")] },
      { name: "w-1", secret: [registry("SECRET-2"), service("KEY=SECRET")] },
      { name: "w-2", secret: [registry("SECRET-1"), service("KEY=SECRET")] },
    ]),
  ).toEqual([
    "ExtensionServiceConfig/vpn environment: set on w-1, w-2; not set on cp-1",
    "machine.registries.config.r.test.auth.password: one value on cp-1, w-2; another on w-1",
  ]);
});

test("names nothing that all have", () => {
  const machine = (name: string) => ({ name, secret: [service("KEY=SECRET"), registry("x")] });
  expect(differingSecrets([machine("a"), machine("b")])).toEqual([]);
});
