// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { describeFirstContact, firstContactOf, parseEnvironment } from "../../../model/index.ts";

const print = "A".repeat(43);
const machine = (more = "") => `{ address: 10.0.0.1, role: controlplane, disk: /dev/sda${more} }`;

test.each([
  ["{ kind: simulated }", undefined],
  ["{ kind: libvirt, trustOnFirstUse: true }", /trust on first use.* each machine\./],
  ["{ kind: libvirt, machineConfig: user-data }", /by user-data/],
  // A template may bring the config; a machine that waits for one all the same is refused.
  ["{ kind: libvirt, cloudInit: { userData: user-data.hbs } }", /by user-data/],
  ["{ kind: container, engine: docker, trustOnFirstUse: true }", /trust on first use/],
  ["{ kind: aws, region: eu-central-1, adminCidrs: [10.0.0.0/24] }", /by user-data/],
  ["{ kind: aws, region: eu-central-1, adminCidrs: [10.0.0.0/24], access: public, trustOnFirstUse: true }", /on first/],
  [`{ kind: metal, machines: { a: ${machine(`, fingerprint: ${print}=`)} } }`, /only to machines with a pinned/],
  [`{ kind: metal, trustOnFirstUse: true, machines: { a: ${machine()} } }`, /trust on first use.* address of a\./],
])("how machines of %s get their initial config", (infrastructure, sentence) => {
  const text = `infrastructure: ${infrastructure}\ncontrolPlane: {}\n`;
  const files: Record<string, string> = {
    "environments/a.yaml": text,
    "environments/user-data.hbs": "version: v1alpha1",
  };
  const environment = parseEnvironment("a", (file) => files[file]);
  const told = describeFirstContact(environment);
  if (sentence === undefined) expect(told).toBeUndefined();
  else expect(told).toMatch(sentence);
  expect(firstContactOf(environment).trustOnFirstUse).toBe(told?.includes("trust on first use") ?? false);
});
