// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { type Environment, parseEnvironment } from "../../model/index.ts";
import { clusterOpener } from "../../watch/project.ts";
import type { Workspace } from "../../workspace/workspace.ts";

const minute = 60_000;
const parsed = (backend: string): Environment =>
  parseEnvironment("lab", (file) =>
    file.endsWith("lab.yaml")
      ? `infrastructure: { kind: libvirt, trustOnFirstUse: true }\ncontrolPlane: { count: 1 }\nbackend: ${backend}\n`
      : undefined,
  );

test("what a remote state tells counts for ten minutes of the steady clock", async () => {
  let elapsed = 0;
  let opened = 0;
  const stub = (deployed: () => void): unknown => ({ deployed, until: () => stub(() => {}) });
  const open = clusterOpener(() => stub(() => opened++) as Workspace, { elapsed: () => elapsed });
  const remote = parsed("{ kind: s3, bucket: states, region: eu-central-1 }");
  const local = parsed("{ kind: local }");
  const opens = async (environment: Environment) => {
    const before = opened;
    await open(environment, new AbortController().signal);
    return opened > before;
  };
  expect(await opens(remote)).toBe(true);
  expect(await opens(remote)).toBe(false);
  elapsed = 11 * minute;
  expect(await opens(remote)).toBe(true);
  expect(await opens(remote)).toBe(false);
  expect(await opens(local)).toBe(true);
  expect(await opens(local)).toBe(true);
});
