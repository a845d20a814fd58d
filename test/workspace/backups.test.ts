// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { backupStatus, openBackups } from "../../workspace/backups.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { testContext } from "../support/command-context.ts";

const folder = mkdtempSync(join(tmpdir(), "talosmith-backups-"));
const { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: warning } = process.env;
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  // The client of S3 sets it.
  if (warning === undefined) delete process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED;
});

function workspaceWith(backup: string, outputs?: object) {
  const cwd = mkdtempSync(join(folder, "project-"));
  for (const name of ["environments", "state"]) mkdirSync(join(cwd, name));
  writeFileSync(join(cwd, "cdktf.json"), "{}");
  writeFileSync(
    join(cwd, "environments/cloud.yaml"),
    `infrastructure: { kind: aws, region: eu-west-1, adminCidrs: [203.0.113.7/32] }\ncontrolPlane: { count: 1 }\nbackup: ${backup}\n`,
  );
  if (outputs !== undefined) {
    const state = { version: 4, serial: 1, outputs, resources: [{}] };
    writeFileSync(join(cwd, "state/cloud.tfstate"), JSON.stringify(state));
  }
  return openWorkspace("cloud", testContext({ cwd }));
}

describe("backups of an environment on AWS that names no place for them", () => {
  const made = { backup_bucket: { value: "cloud-backups-20261116", type: "string" } };

  test("are in the bucket that the state has", async () => {
    const { store } = await openBackups(workspaceWith("{}", made));
    expect(store.place).toBe("s3://cloud-backups-20261116/cloud");
  });

  test("are where the file says, where it does", async () => {
    const { store } = await openBackups(workspaceWith("{ s3: { bucket: example, prefix: x } }", made));
    expect(store.place).toBe("s3://example/x");
  });

  test.each([undefined, {}])("have no place before it is deployed: %j", async (outputs) => {
    const workspace = workspaceWith("{}", outputs);
    await expect(openBackups(workspace)).rejects.toMatchObject({
      code: "not-found",
      message: "the bucket for backups of cloud is not made yet",
      hint: "It is made with the cluster: talosmith deploy cloud",
    });
    expect(await backupStatus(workspace)).toEqual({ problem: "the bucket for backups of cloud is not made yet" });
  });
});
