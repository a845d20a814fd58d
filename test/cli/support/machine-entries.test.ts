// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { Entries, machineEntries } from "../../../cli/support/entries.ts";

test("a machine that trips us up is told of in the bundle, which is for such cases, and keeps nobody from it", async () => {
  const entries = new Entries((text) => text);
  const opened = {
    get desired(): never {
      throw new Error("a fault of ours");
    },
  };
  await machineEntries(opened as never, { name: "m-1" } as never, entries, new AbortController().signal);
  expect([...entries.files()]).toEqual([["missing.txt", "machines/m-1/state.json: a fault of ours\n"]]);
});
