// SPDX-License-Identifier: Apache-2.0
// What an example says to somebody who lacks what it needs; test/acceptance/docs-pages.test.ts types their READMEs.
import { expect, test } from "vitest";
import { openProject } from "../pages/worlds.ts";

test("worker-metal says what it takes where there is no terraform", async () => {
  const { shell, close } = openProject({ from: "examples/worker-metal" });
  try {
    const { code, stderr } = await shell.type("npx talosmith deploy worker-metal --yes");
    const says =
      /^Error: worker-metal: workers that join the control plane of \S+ are managed by Terraform, but neither/;
    expect([code, stderr]).toEqual([1, expect.stringMatching(says)]);
  } finally {
    await close();
  }
});
