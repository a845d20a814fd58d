// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { askForUpgrade } from "../../../cli/actions/choose-upgrade.ts";
import { testContext } from "../../support/command-context.ts";

const found = [
  {
    field: "talosVersion",
    word: "talos",
    product: "Talos",
    version: "v1.13.8",
    versions: ["v1.13.9", "v1.14.0", "v1.14.1"],
  },
  { field: "kubernetesVersion", word: "k8s", product: "Kubernetes", version: "1.36.2", versions: ["1.36.3", "1.37.0"] },
] as const;

/** What is chosen by these answers, one after the other. */
async function choose(answers: readonly (string | undefined)[]) {
  const context = testContext();
  const left = [...answers];
  const chosen = await askForUpgrade(found, async () => left.shift(), context);
  return { chosen, left, stderr: context.written.stderr };
}

describe("the answer to which version", () => {
  const talos = (to: string) => ({ field: "talosVersion", to });
  const kubernetes = (to: string) => ({ field: "kubernetesVersion", to });

  test.each([
    ["talos v1.14.0", talos("v1.14.0")],
    ["v1.14.0", talos("v1.14.0")],
    ["1.14.0", talos("v1.14.0")],
    ["1.14", talos("v1.14.1")],
    ["Talos  latest", talos("v1.14.1")],
    ["talos 1.13", talos("v1.13.9")],
    ["k8s 1.36", kubernetes("1.36.3")],
    ["kubernetes latest", kubernetes("1.37.0")],
    ["v1.37.0", kubernetes("1.37.0")],
  ])("%s is taken", async (answer, expected) => {
    expect((await choose([answer])).chosen).toEqual(expected);
  });

  test.each(["latest", "1", "1.1", "1.38", "k8s 1.14", "talos", "talos latest please", "yes"])(
    "%s is answered with the choices, and asked again",
    async (answer) => {
      const { chosen, stderr } = await choose([answer, "1.13.9"]);
      expect(stderr).toBe(
        `"${answer}" is not one of: talos v1.13.9, talos v1.14.0, talos v1.14.1, k8s 1.36.3, k8s 1.37.0.\n`,
      );
      expect(chosen).toEqual(talos("v1.13.9"));
    },
  );

  test.each(["", "  ", undefined])("%j is none", async (answer) => {
    expect(await choose([answer, "1.14"])).toEqual({ chosen: undefined, left: ["1.14"], stderr: "" });
  });
});
