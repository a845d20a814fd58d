// SPDX-License-Identifier: Apache-2.0
// The main job under each program that `TALOSMITH_TEST_TERRAFORMS` names: paths with a colon between them.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makeProject, removeProject, talosmith } from "../hostile/project.ts";
import { moreTerraforms } from "../support/more-terraforms.ts";
import { cleanEnvironment } from "../support/terraform.ts";

test.skipIf(moreTerraforms.length === 0)("TALOSMITH_TEST_TERRAFORMS names further versions of Terraform", () =>
  expect(moreTerraforms).not.toEqual([]),
);

const environment = (workers: number, more = "") =>
  `infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: ${workers} }]\n${more}`;

describe.each(moreTerraforms)("$version, $path", { timeout: 600_000 }, ({ path, version }) => {
  const root = makeProject();
  const run = (line: string) =>
    talosmith(line.split(" "), {
      cwd: root,
      env: { ...cleanEnvironment(), TERRAFORM_BINARY_NAME: path, HOME: root },
    });
  const wish = (text: string) => writeFileSync(join(root, "environments/local.yaml"), text);
  afterAll(async () => {
    await run("destroy local --yes");
    removeProject(root);
  });

  test("deploys, finds nothing to change, scales up and down, and destroys", async () => {
    for (const workers of [1, 2, 0]) {
      wish(environment(workers));
      const deployed = await run("deploy local --yes");
      expect(deployed, deployed.stderr).toMatchObject({ code: 0 });
      expect(deployed.stdout.match(/● /g)).toHaveLength(1 + workers);
      expect(await run("plan local")).toMatchObject({ code: 0 });
    }
    expect(await run("health local")).toMatchObject({ code: 0 });
    expect(await run("destroy local --yes")).toMatchObject({ code: 0 });
  });

  const [major = 0, minor = 0] = version.split(".").map(Number);
  const hasLockFiles = major > 1 || minor >= 10;
  if (hasLockFiles) return;
  test("is told that state locks in S3 without a table need a newer one", async () => {
    mkdirSync(join(root, "secrets"), { recursive: true });
    wish(environment(0, "backend: { kind: s3, bucket: somebodys-bucket, region: eu-central-1 }\n"));
    await run("gen secrets --output-file secrets/local.yaml --force");
    const { code, stderr } = await run("plan local");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /Unsupported \w+ Core version[\s\S]*"required_version": ">= 1\.10\.0"[\s\S]*backend\.lockTable/,
      ),
    });
    wish(environment(0));
  });
});
