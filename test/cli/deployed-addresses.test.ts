// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { deployedByTerraform } from "../../workspace/terraform/stack-outputs.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { testContext } from "../support/command-context.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-addresses-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What Terraform's `for` over a map of machines gives: in the order of the keys. */
const byKey = (pool: string, count: number, network: number) =>
  Array.from({ length: count }, (_, index) => index + 1)
    .sort((left, right) => (`${pool}-${left}` < `${pool}-${right}` ? -1 : 1))
    .map((index) => `10.0.${network}.${index}`);

test("each machine of a deployed cluster is shown with its own address, also from the tenth on", async () => {
  mkdirSync(join(root, "environments"));
  mkdirSync(join(root, "cdktf.out/stacks/lab"), { recursive: true });
  writeFileSync(join(root, "cdktf.json"), "{}");
  writeFileSync(
    join(root, "environments/lab.yaml"),
    "infrastructure: { kind: simulated }\ncontrolPlane: { count: 3 }\nworkers: [{ count: 11 }, { name: big, count: 12 }]\n",
  );
  const value = (given: unknown) => ({ value: given });
  const outputs = {
    cluster_endpoint: value("https://10.0.0.1:6443"),
    control_plane_ips: value(byKey("cp", 3, 0)),
    worker_ips: value([...byKey("w", 11, 1), ...byKey("big", 12, 2)]),
  };
  const binary = join(root, "terraform");
  writeFileSync(binary, `#!/bin/sh\ncat <<'END'\n${JSON.stringify(outputs)}\nEND\n`);
  chmodSync(binary, 0o755);
  const context = testContext({ cwd: root, env: process.env });
  const { machines } = await deployedByTerraform(openWorkspace("lab", context), binary);
  const networks: Readonly<Record<string, number>> = { cp: 0, w: 1, big: 2 };
  expect(machines).toHaveLength(26);
  for (const { name, address } of machines) {
    const [, pool = "", index] = name.split("-");
    expect(`${name} ${address}`).toBe(`${name} 10.0.${networks[pool]}.${index}`);
  }
});

test("machines of a pool with scaling are in no list, wherever the pool stands in the file", async () => {
  writeFileSync(
    join(root, "environments/aws.yaml"),
    "infrastructure: { kind: aws, region: eu-central-1, adminCidrs: [198.51.100.0/24] }\ncontrolPlane: { count: 1 }\nworkers: [{ name: burst, count: 2, scaling: { min: 0, max: 4 } }, { count: 1 }]\n",
  );
  mkdirSync(join(root, "cdktf.out/stacks/aws"), { recursive: true });
  const outputs = {
    cluster_endpoint: "https://10.0.0.1:6443",
    control_plane_ips: ["10.0.0.1"],
    worker_ips: ["10.0.1.1"],
  };
  const values = Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, { value }]));
  const binary = join(root, "terraform-aws");
  writeFileSync(binary, `#!/bin/sh\necho '${JSON.stringify(values)}'\n`, { mode: 0o755 });
  const { machines } = await deployedByTerraform(
    openWorkspace("aws", testContext({ cwd: root, env: process.env })),
    binary,
  );
  expect(machines.map(({ name, address }) => `${name} ${address}`)).toEqual(["aws-cp-1 10.0.0.1", "aws-w-1 10.0.1.1"]);
});

test("a state without the outputs of the stack is refused with their names and what to run", async () => {
  const binary = join(root, "without-outputs");
  writeFileSync(binary, `#!/bin/sh\necho '{"worker_ips":{"value":[]}}'\n`, { mode: 0o755 });
  const workspace = openWorkspace("lab", testContext({ cwd: root, env: process.env }));
  await expect(deployedByTerraform(workspace, binary)).rejects.toMatchObject({
    code: "failed-precondition",
    message: "the Terraform state of lab lacks outputs of its stack: cluster_endpoint, control_plane_ips",
    hint: expect.stringMatching(/main\.ts .* talosmith deploy lab$/),
  });
});
