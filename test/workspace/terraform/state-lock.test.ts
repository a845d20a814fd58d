// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { lockedError } from "../../../workspace/terraform/state-lock.ts";

const boxed = `╷
│ Error: Error acquiring the state lock
│ 
│ Error message: resource temporarily unavailable
│ Lock Info:
│   ID:        6b1f6c3d-7c1c-9f0e-1a3e-3f1f4f5a6b7c
│   Path:      ../../../state/local.tfstate
│   Operation: OperationTypeApply
│   Who:       ada@project
│   Version:   1.11.4
│   Created:   2026-11-16 10:20:30.123456789 +0000 UTC
│   Info:      
╵`;

const remote = boxed.replace("resource temporarily unavailable", "operation error S3: PutObject, StatusCode: 412");
const plain = (words: string) => words.replaceAll(/[╷│╵] ?/g, "");

test.each([
  ["of a local state, with terraform's frame", boxed, "pgrep -a tofu"],
  ["of a local state, without colours", plain(boxed), "pgrep -a tofu"],
  ["of a remote state", remote, "tofu force-unlock 6b1f6c3d-7c1c-9f0e-1a3e-3f1f4f5a6b7c"],
])("a held lock %s is told by holder, time and what to do", (_, words, hint) => {
  expect(lockedError(words, "tofu")).toMatchObject({
    code: "failed-precondition",
    message: "the state is locked: ada@project is applying since 2026-11-16 10:20:30 UTC",
    hint: expect.stringContaining(hint),
  });
});

test.each([
  "Error: No valid credential sources found",
  "Error: Error acquiring the state lock\n\nThe state file could not be parsed as JSON",
])("%j is left in terraform's own words", (words) => {
  expect(lockedError(words, "terraform")).toBeUndefined();
});
