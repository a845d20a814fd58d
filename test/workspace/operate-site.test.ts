// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { type Environment, parseEnvironment } from "../../model/index.ts";
import { clusterOpener } from "../../watch/open-project.ts";
import type { OpenCluster } from "../../workspace/open-cluster.ts";
import { testContext } from "../support/command-context.ts";

const minute = 60_000;
const parsed = (backend: string): Environment =>
  parseEnvironment("lab", (file) =>
    file.endsWith("lab.yaml")
      ? `infrastructure: { kind: libvirt, trustOnFirstUse: true }\ncontrolPlane: { count: 1 }\nbackend: ${backend}\n`
      : undefined,
  );

test("what a remote state tells counts for ten minutes, whatever the time of day is set to", async () => {
  let elapsed = 0;
  let day = new Date("2026-01-01T00:00:00Z");
  let opened = 0;
  const context = testContext({ clock: { now: () => day } });
  const once = async () => ({ opened: opened++ }) as unknown as OpenCluster;
  const open = clusterOpener(once, { elapsed: () => elapsed });
  const remote = parsed("{ kind: s3, bucket: states, region: eu-central-1 }");
  const local = parsed("{ kind: local }");
  const opens = async (environment: Environment) => {
    const before = opened;
    await open(environment, context);
    return opened > before;
  };
  expect(await opens(remote)).toBe(true);
  expect(await opens(remote)).toBe(false);
  day = new Date("2020-01-01T00:00:00Z");
  elapsed = 11 * minute;
  expect(await opens(remote)).toBe(true);
  day = new Date("2030-01-01T00:00:00Z");
  expect(await opens(remote)).toBe(false);
  expect(await opens(local)).toBe(true);
  expect(await opens(local)).toBe(true);
});
