// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { dueOf, surplusBackups } from "../../operator/backup-controllers.ts";
import { readBackup, readSchedule } from "../../operator/kinds/backup.ts";

const metadata = { namespace: "n", uid: "u", resourceVersion: "1", creationTimestamp: "2026-11-19T00:00:00Z" };
const clusterRef = { name: "lab" };
const now = new Date("2026-11-19T12:00:00Z");
const schedule = (spec: object = {}, status: object = {}) =>
  readSchedule({ metadata: { ...metadata, name: "s" }, spec: { clusterRef, schedule: "0 3 * * *", ...spec }, status });
const backup = (name: string, phase?: string, at = metadata.creationTimestamp) =>
  readBackup({
    metadata: { ...metadata, name, creationTimestamp: at },
    spec: { clusterRef },
    status: phase === undefined ? {} : { phase },
  });

describe("what a schedule wants", () => {
  const tomorrow = new Date("2026-11-20T03:00:00Z");

  test.each<[string, ReturnType<typeof schedule>, ReturnType<typeof backup>[], object]>([
    ["its first time has passed", schedule(), [], { begin: new Date("2026-11-19T03:00:00Z"), next: tomorrow }],
    [
      "its time has passed and was used",
      schedule({}, { lastScheduleTime: "2026-11-19T03:00:01Z" }),
      [],
      { next: tomorrow },
    ],
    [
      "several times have passed: one backup",
      schedule({}, { lastScheduleTime: "2026-11-10T03:00:01Z" }),
      [backup("old", "Succeeded")],
      { begin: new Date("2026-11-11T03:00:00Z"), next: tomorrow },
    ],
    ["a backup runs", schedule(), [backup("s-1", "Running")], { next: tomorrow }],
    ["it is suspended", schedule({ suspend: true }), [], {}],
    ["its time zone is ahead", schedule({ timeZone: "Asia/Tokyo" }), [], { next: new Date("2026-11-19T18:00:00Z") }],
  ])("%s", (_what, object, own, due) => {
    expect(dueOf(object, own, now)).toEqual(due);
  });

  test("what is no schedule is reported", () => {
    expect(dueOf(schedule({ schedule: "daily" }), [], now).fault).toContain('found "daily"');
    expect(dueOf(schedule({ timeZone: "Mars/Base" }), [], now).fault).toContain('found "Mars/Base"');
  });
});

test("of backups that have ended the newest are kept, and those that run are never deleted", () => {
  const at = (day: number) => `2026-11-${String(day).padStart(2, "0")}T03:00:00Z`;
  const own = [
    backup("a", "Succeeded", at(1)),
    backup("b", "Failed", at(2)),
    backup("c", "Succeeded", at(3)),
    backup("d", "Running", at(4)),
  ];
  expect(surplusBackups(own, 2).map(({ metadata }) => metadata.name)).toEqual(["a"]);
  expect(surplusBackups(own, 5)).toEqual([]);
});
