// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { seedNotice } from "../../../cli/actions/rotate-ca.ts";
import { registerRotateCa } from "../../../cli/commands/lifecycle.ts";
import { createProgram, runProgram } from "../../../cli/program.ts";
import { parseEnvironment } from "../../../model/index.ts";
import { testContext } from "../../support/command-context.ts";

const folder = mkdtempSync(join(tmpdir(), "talosmith-rotate-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cloud = "kind: aws, region: eu-central-1, zones: 1, adminCidrs: [10.9.0.0/24]";

test("machines that come and go by themselves are not cut off", async () => {
  mkdirSync(join(folder, "environments"));
  writeFileSync(join(folder, "cdktf.json"), "{}");
  writeFileSync(
    join(folder, "environments/cloud.yaml"),
    `infrastructure: { ${cloud} }\ncontrolPlane: {}\nworkers: [{ name: burst, count: 1, scaling: { min: 0, max: 3 } }]\n`,
  );
  const context = testContext({ cwd: folder });
  await runProgram(createProgram(context, [registerRotateCa]), ["rotate-ca", "cloud"], context);
  expect(context.written.stderr).toContain("the machines of burst would be cut off");
  expect(context.written.exitCode).toBe(1);
});

test.each([
  [`{ ${cloud} }`, true],
  ["{ kind: libvirt, machineConfig: user-data }", true],
  ["{ kind: libvirt, trustOnFirstUse: true }", false],
  ["{ kind: simulated }", false],
])("what user-data keeps is named before an exchange: %s", (infrastructure, named) => {
  const text = `infrastructure: ${infrastructure}\ncontrolPlane: {}\n`;
  const notice = seedNotice(parseEnvironment("lab", (file) => (file === "environments/lab.yaml" ? text : undefined)));
  expect(notice?.includes("keeps the old CAs") ?? false).toBe(named);
});
