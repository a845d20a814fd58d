// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { withCount, withVersions } from "../../../talos/environment/index.ts";

const text = `# my cluster
cluster: { name: lab, talosVersion: v1.12.11 } # old
infrastructure:
  kind:   simulated
controlPlane:
    count: 3 # odd
workers:
- count: 2
- name: big
  labels: { a: "1" }
`;

describe("an edited environment file", () => {
  const cases: readonly [string, string, string, string][] = [
    ["a version that is there", withVersions(text, { talosVersion: "v1.13.9" }), "v1.12.11", "v1.13.9"],
    ["the control planes", withCount(text, "cp", 5), "count: 3", "count: 5"],
    ["a pool without a name", withCount(text, "w", 0), "count: 2", "count: 0"],
  ];
  test.each(cases)("differs in nothing but %s", (_what, edited, before, after) => {
    expect(edited).toBe(text.replace(before, after));
  });

  test("gets a value that its base had so far, and keeps its comments", () => {
    const edited = withVersions(text, { kubernetesVersion: "1.36.3" });
    expect(edited).toContain("kubernetesVersion: 1.36.3");
    expect(withCount(text, "big", 4)).toMatch(/name: big\n +labels: .*\n +count: 4\n/);
    for (const comment of ["# my cluster", "# old", "# odd"]) expect(edited).toContain(comment);
    expect(withVersions("infrastructure: { kind: simulated }\n", { talosVersion: "v1.13.9" })).toBe(
      "infrastructure: { kind: simulated }\ncluster:\n  talosVersion: v1.13.9\n",
    );
  });

  test("is refused for a pool that it does not have", () => {
    expect(() => withCount(text, "gpu", 1)).toThrow(/no pool of workers called gpu/);
  });
});
