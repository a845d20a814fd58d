// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { listItems, prependItems, replaceItems } from "../../../model/environment/edit-list.ts";

const file = "environments/lab.yaml";
const path = ["cluster", "patches", "all"];

const block = `# the lab
cluster:
  name: lab # short
  patches:
    all:
      # labels
      - machine:
          nodeLabels: { a: b } # one

      # as text
      - |
        machine:
          sysctls: {}
      - machine:
          files: []
          # inside

    # before the next key
    worker: []
workers: []
`;

test("items are read with their lines", () => {
  expect(listItems(block, file, path)).toEqual([
    { text: "machine:\n  nodeLabels: { a: b } # one\n", isText: false, line: 7 },
    { text: "machine:\n  sysctls: {}\n", isText: true, line: 12 },
    { text: "machine:\n  files: []\n  # inside\n", isText: false, line: 14 },
  ]);
  expect(listItems(block, file, ["cluster", "patches", "controlPlane"])).toBeUndefined();
});

describe("items are replaced, and every other byte stays", () => {
  test.each<[name: string, text: string, changes: [number, readonly string[]][], expected: string]>([
    ["nothing", block, [], block],
    [
      "one by two",
      block,
      [[0, ["a: 1\n", "# why\nb:\n  c: 2\n"]]],
      block.replace(
        "machine:\n          nodeLabels: { a: b } # one",
        "a: 1\n      - # why\n        b:\n          c: 2",
      ),
    ],
    [
      "text by text",
      block,
      [[1, ["a: 1\n", "b: 2\n"]]],
      block.replace("machine:\n          sysctls: {}", "a: 1\n        ---\n        b: 2"),
    ],
    [
      "the last one, with a comment behind it",
      block,
      [[2, ["a: 1\n"]]],
      block.replace("machine:\n          files: []\n          # inside", "a: 1"),
    ],
    [
      "one that goes",
      block,
      [[2, []]],
      block.replace("      - machine:\n          files: []\n          # inside\n", ""),
    ],
    [
      "a list on one line",
      "cluster: { patches: { all: [{ a: 1 }, { b: 2 }, { c: 3 }] } }\n",
      [
        [0, ["x:\n  y: '1' # z\n", "z: 2\n"]],
        [1, []],
        [2, []],
      ],
      "cluster: { patches: { all: [{ x: { y: '1' } }, { z: 2 }] } }\n",
    ],
    [
      "all that go",
      "cluster:\n  patches:\n    all:\n      - a: 1\n  name: b\n",
      [[0, []]],
      "cluster:\n  patches:\n    all:\n      []\n  name: b\n",
    ],
    [
      "lines that end as in Windows",
      "cluster:\r\n  patches:\r\n    all:\r\n      - a: 1\r\n  name: b\r\n",
      [[0, ["b: 2\nc: 3\n"]]],
      "cluster:\r\n  patches:\r\n    all:\r\n      - b: 2\r\n        c: 3\r\n  name: b\r\n",
    ],
  ])("%s", (_, text, changes, expected) => {
    expect(replaceItems(text, file, path, new Map(changes))).toBe(expected);
  });

  test.each(["cluster: { patches: { all: &x [a: b] } }\n", "cluster: { patches: { all: a } }\n"])(
    "refused: %s",
    (text) => {
      expect(() => replaceItems(text, file, path, new Map([[0, ["a: 1\n"]]]))).toThrow(
        "environments/lab.yaml writes cluster.patches.all in a way that is not changed here",
      );
    },
  );
});

describe("items come first in a list", () => {
  const added = ["a: 1\n", "b:\n  c: 2\n"];
  test.each<[name: string, text: string, expected: string]>([
    [
      "a list with items",
      "cluster:\n  patches:\n    all:\n      # one\n      - x: y\n",
      "cluster:\n  patches:\n    all:\n      - a: 1\n      - b:\n          c: 2\n      # one\n      - x: y\n",
    ],
    [
      "one on a line",
      "cluster: { patches: { all: [{ x: y }] } }\n",
      "cluster: { patches: { all: [{ a: 1 }, { b: { c: 2 } }, { x: y }] } }\n",
    ],
    [
      "an empty list",
      "cluster:\n  patches: { all: [] }\n",
      "cluster:\n  patches: { all: [ { a: 1 }, { b: { c: 2 } } ] }\n",
    ],
    [
      "no list",
      "cluster:\n  name: lab\n  patches:\n    worker:\n      - x: y # z\n\n# pools\nworkers: []\n",
      "cluster:\n  name: lab\n  patches:\n    worker:\n      - x: y # z\n    all:\n      - a: 1\n      - b:\n          c: 2\n\n# pools\nworkers: []\n",
    ],
    [
      "no section",
      "cluster:\n  name: lab # l\nworkers: []\n",
      "cluster:\n  name: lab # l\n  patches:\n    all:\n      - a: 1\n      - b:\n          c: 2\nworkers: []\n",
    ],
    [
      "no section on a line",
      "cluster: { name: lab }\nworkers: []\n",
      "cluster: { name: lab, patches: { all: [ { a: 1 }, { b: { c: 2 } } ] } }\nworkers: []\n",
    ],
    [
      "no cluster",
      "workers: []\n",
      "workers: []\ncluster:\n  patches:\n    all:\n      - a: 1\n      - b:\n          c: 2\n",
    ],
  ])("%s", (_, text, expected) => {
    expect(prependItems(text, file, path, added)).toBe(expected);
  });
});
