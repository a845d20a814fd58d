// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { expect, test } from "vitest";
import { table, tableWithText } from "../../../cli/output/table.ts";
import { wrapped } from "../../../cli/output/wrap.ts";

test("long lines are broken between words, with the rest further to the right", () => {
  const steps =
    "  demo-cp-1, demo-cp-2, demo-cp-3: apply config without a reboot, wait for etcd, wait for Kubernetes node\nshort";
  expect(wrapped(steps, 80)).toBe(
    "  demo-cp-1, demo-cp-2, demo-cp-3: apply config without a reboot, wait for\n    etcd, wait for Kubernetes node\nshort",
  );
  expect(wrapped(steps, undefined)).toBe(steps);
  expect(wrapped(steps, 200)).toBe(steps);
});

test.each([
  [
    "Nothing was changed. To do it: talosmith upgrade talos production --to v1.14.1 --no-kubernetes",
    "Nothing was changed. To do it:\n  talosmith upgrade talos production --to v1.14.1 --no-kubernetes",
  ],
  [
    "  If their machines are gone, so that nothing of them is left: kubectl delete node a b c. Then run it again.",
    "  If their machines are gone, so that nothing of them is left:\n    kubectl delete node a b c. Then run it again.",
  ],
])("a command to copy stays in one piece: %s", (text, expected) => {
  expect(wrapped(text, 80)).toBe(expected);
});

test("colors take no room, and a word that is too long stays whole", () => {
  const red = `\u001b[31mDANGER Data lost: ${"word ".repeat(11)}end\u001b[39m`;
  expect(wrapped(red, 80)).toBe(red);
  const address = `ghcr.io/${"a".repeat(100)}`;
  expect(wrapped(`image: ${address}`, 80)).toBe(`image:\n  ${address}`);
});

test.each(["w-1   worker   10.0.0.5   ", "│ ", "⠋ cp-1  "])("what has a form keeps it: %s", (start) => {
  const line = `${start}${"word ".repeat(30)}`;
  expect(wrapped(line, 80)).toBe(line);
});

test("sentences in the last column of a table stay in their column on a terminal, and in one line in a log", () => {
  const rows = [
    ["ok", "node", "20.20.2"],
    ["fault", "lab", `1 error in lab\n\n  found nothing, ${"and so on ".repeat(7)}`],
  ];
  const lines = tableWithText(["", "check", "result"], rows, 80).split("\n");
  expect(lines.filter((line) => line.length >= 80)).toEqual([]);
  expect(lines.slice(2)).toEqual([
    "fault   lab     1 error in lab",
    "                  found nothing, and so on and so on and so on and so on and so",
    "                    on and so on and so on",
    "",
  ]);
  expect(tableWithText(["", "check", "result"], rows, undefined)).toBe(table(["", "check", "result"], rows));
});

test("no word is lost, and no line but that of one word or one command is too wide", () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 60 }), (words) => {
      const lines = wrapped(words.join(" "), 60).split("\n");
      expect(lines.join(" ").split(/ +/).filter(Boolean)).toEqual(words);
      for (const line of lines) expect(line.length).toBeLessThan(60);
    }),
  );
});
