// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { withFollowedEvents } from "../../../cli/terraform/follow-events.ts";
import { eventsBeside } from "../../../cli/terraform/plan-file.ts";
import { runElsewhere } from "../../../cli/terraform/run-elsewhere.ts";
import { eventsTo } from "../../../talos/cluster/index.ts";

const folder = mkdtempSync(join(tmpdir(), "talosmith-elsewhere-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a run of Terraform is seen from its beginning to its end, and one that was killed is not", async () => {
  expect(await runElsewhere(join(folder, "no stack"))).toBeUndefined();
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  writeFileSync(join(folder, eventsBeside(`talosmith.${dead}.aaaa.tfplan`)), "");
  expect(await runElsewhere(folder)).toBeUndefined();

  const plan = `talosmith.${process.pid}.0a1b.tfplan`;
  writeFileSync(join(folder, plan), "a plan that waits for its approval");
  expect(await runElsewhere(folder)).toBeUndefined();
  const path = join(folder, eventsBeside(plan));
  const nobody = () => {};
  await withFollowedEvents(path, nobody, async () => {
    expect(await runElsewhere(folder)).toMatchObject({ id: "terraform-0a1b", events: [] });
    eventsTo(path)({ type: "waiting", at: new Date(0), message: "for cp-1", machine: "cp-1" });
    expect((await runElsewhere(folder))?.events).toMatchObject([{ message: "for cp-1", machine: "cp-1" }]);
  });
  expect(await runElsewhere(folder)).toBeUndefined();
});
