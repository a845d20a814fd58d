// SPDX-License-Identifier: Apache-2.0
import { afterAll, describe, expect, test } from "vitest";
import { ClusterWorkspace } from "./cluster-workspace.ts";
import { everything } from "./everything.ts";
import { findTools } from "./terraform.ts";

export const plan = ["plan", "-no-color", "-input=false"];
export const apply = ["apply", "-auto-approve", "-no-color", "-input=false"];

type Wishes = Parameters<typeof ClusterWorkspace.open> extends [unknown, ...infer Rest] ? Rest : never;

interface Suite {
  /** A workspace that is gone when all tests of the file have run. */
  open(...wishes: Wishes): Promise<ClusterWorkspace>;
}

/** Tests of the provider under terraform, and under tofu as well where everything is tested. */
export function underTools(what: string, suite: (given: Suite) => void): void {
  const tools = findTools();
  const workspaces: ClusterWorkspace[] = [];
  afterAll(() => Promise.all(workspaces.map((workspace) => workspace.dispose())));

  test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));

  describe.each(everything ? tools : tools.slice(0, 1))(`${what} under $name`, (tool) => {
    const open = async (...wishes: Wishes) => {
      const workspace = await ClusterWorkspace.open(tool, ...wishes);
      workspaces.push(workspace);
      return workspace;
    };
    suite({ open });
  });
}
