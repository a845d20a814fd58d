// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { withCount } from "../../../model/index.ts";

const text = `# my cluster
cluster: { name: lab } # old
infrastructure:
  kind:   simulated
controlPlane:
    count: 3 # odd
workers:
- count: 2
- name: big
  labels: { a: "1" }
`;
const file = "environments/lab.yaml";
const counted = (pool: string, count: number, of = text) => withCount(of, file, pool, count);

describe("an environment file with another number of machines", () => {
  const cases: readonly [string, string, string, string][] = [
    ["the control planes", counted("cp", 5), "count: 3", "count: 5"],
    ["a pool without a name", counted("w", 0), "count: 2", "count: 0"],
    ["a pool that did not say it", counted("big", 4), "- name: big", "- count: 4\n  name: big"],
  ];
  test.each(cases)("differs in nothing but %s", (_what, edited, before, after) => {
    expect(edited).toBe(text.replace(before, after));
  });

  test("gets the section that its base had so far", () => {
    expect(counted("cp", 1, "infrastructure: { kind: simulated }\n")).toBe(
      "infrastructure: { kind: simulated }\ncontrolPlane:\n  count: 1\n",
    );
  });

  test("is refused for a pool that it does not have", () => {
    expect(() => counted("gpu", 1)).toThrow("environments/lab.yaml has no pool of workers called gpu");
  });

  test("is refused where an anchor would change others too", () => {
    const shared = "controlPlane: &pool { count: 1 }\nworkers: [*pool]\n";
    expect(() => counted("cp", 3, shared)).toThrow("controlPlane.count in a way that is not changed here");
  });
});
