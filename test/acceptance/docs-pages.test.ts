// SPDX-License-Identifier: Apache-2.0
// The commands of the documents, typed into a shell page by page. What stands in for what is in the names.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linesOf, type Walk, type World, walkPage } from "../pages/walk.ts";
import { walks } from "../pages/walks.ts";
import { everything } from "../support/everything.ts";

const lines = (walk: Walk) => linesOf(walk, { quick: !everything });
const only = process.env.TALOSMITH_TEST_PAGE;

describe.each(walks.filter((walk) => lines(walk).length > 0 && (only === undefined || walk.page.includes(only))))(
  "$page, typed with $name",
  (walk) => {
    let world: World | undefined;
    let missing: string | undefined;

    beforeAll(async () => {
      const opened = await walk.open();
      if ("missing" in opened) missing = opened.missing;
      else world = opened;
    });

    afterAll(() => world?.close());

    test("every line does what it says", { timeout: 1_200_000 }, async (task) => {
      if (world === undefined) {
        console.warn(`SKIPPED: the commands of ${walk.page}, because ${missing}`);
        return task.skip();
      }
      expect(await walkPage(walk, world, lines(walk))).toBeGreaterThan(0);
    });
  },
);
