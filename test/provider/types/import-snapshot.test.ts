// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { parseSnapshotAddress } from "../../../provider/types/import-snapshot.ts";

const backup = "lab-20261116T120000Z-3f9a";

describe("the address of a backup that is imported", () => {
  test.each([
    [`backups/lab/${backup}`, { directory: "backups/lab" }],
    [`/var/backups/${backup}`, { directory: "/var/backups" }],
    [`s3://bucket/${backup}`, { s3: { bucket: "bucket" } }],
    [`s3://bucket/a/b/${backup}`, { s3: { bucket: "bucket", prefix: "a/b" } }],
    [
      `s3://bucket/a/${backup}?region=eu-central-1&endpoint=https://minio.example.com:9000&path_style=true`,
      {
        s3: {
          bucket: "bucket",
          prefix: "a",
          region: "eu-central-1",
          endpoint: "https://minio.example.com:9000",
          path_style: true,
        },
      },
    ],
  ])("%s is a place and a name", (id, place) => {
    expect(parseSnapshotAddress(id)).toMatchObject({ directory: null, s3: null, ...place, backup, cluster: "lab" });
  });

  test("what an address does not say is null, as in a state", () => {
    const unset = { prefix: null, region: null, endpoint: null, path_style: null };
    const { s3 } = parseSnapshotAddress(`s3://bucket/${backup}`);
    expect(s3).toEqual({ bucket: "bucket", ...unset, sse: null, kms_key_id: null, profile: null });
  });

  test.each([
    backup,
    "backups/lab",
    `s3://${backup}`,
    `s3://bucket/${backup}?color=red`,
    `s3://bucket/${backup}?constructor=x`,
    `s3://bucket/${backup}?sse=rot13`,
    `s3://bucket/${backup}?path_style=yes`,
    "",
  ])("%s is refused", (id) => {
    expect(() => parseSnapshotAddress(id)).toThrow("Not the address of a backup");
  });
});
