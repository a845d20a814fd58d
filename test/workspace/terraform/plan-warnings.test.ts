// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { eachWarning, unseenIn, warningsIn } from "../../../workspace/terraform/terraform-output.ts";

const settings = "Warning: Unable to open CLI configuration file\n\nIt does not exist.\n\n";
const refreshed = "talosmith_cluster.cluster: Refreshing state... [id=local]\n\n";
const none = "No changes. Your infrastructure matches the configuration.\n\n";
const some =
  "  # terraform_data.it will be created\n  + input = <<-EOT\n        Warning: of a user\n\nPlan: 1 to add.\n";
const silent = `Warning: Some machines could not be checked

  with talosmith_cluster.cluster,
  on cdk.tf.json line 131, in resource.talosmith_cluster.cluster:
 131:       }

What is known of them is kept as it was.
local-cp-1: 127.0.0.5: the connection was refused
`;
const boxed = `╷\n${silent.trimEnd().replaceAll(/^/gm, "│ ")}\n╵\n`;
const coloured = boxed
  .replaceAll(/^(.)/gm, "\u001b[33m$1\u001b[0m")
  .replace("Warning: ", "\u001b[1mWarning: \u001b[0m");
const lost = "Warning: The machines could not be checked\n\nWhat is known of them is kept as it was.\n";
const deprecated = "Warning: Argument is deprecated\n\nlocal-cp-1: use another.\n";

test.each([
  ["plain", silent],
  ["in a frame", boxed],
  ["several", `${silent}\n(and one more similar warning elsewhere)\n`],
])("warnings, %s, are shown without their place in the generated stack", (_, text) => {
  expect(eachWarning(text)).toEqual([
    `Some machines could not be checked

What is known of them is kept as it was.
local-cp-1: 127.0.0.5: the connection was refused`,
  ]);
});

test("a warning of a project's own files keeps its place", () => {
  const own = 'Deprecated\n\n  on main.tf line 3, in output "x":\n   3: x\n\nUse y.';
  expect(eachWarning(`Warning: ${own}`)).toEqual([own]);
});

test("several warnings are told apart, and none are none", () => {
  expect(eachWarning(`${lost}\n${boxed}`).map((warning) => warning.split("\n")[0])).toEqual([
    "The machines could not be checked",
    "Some machines could not be checked",
  ]);
  expect(eachWarning("")).toEqual([]);
});

test("lines that terraform has broken for its width are whole again, others stay", () => {
  const detail =
    "demo-cp-1, demo-cp-2, demo-cp-3, demo-w-1: Talos v1.13.9 does this by itself:\n/var is mounted with nosuid and nodev. A patch with VolumeConfig/EPHEMERAL\ndecides it for every release.";
  const text = `Warning: A default changes\n\n${detail}\nw-2: stays\n  set:\n    a: b\n`;
  expect(eachWarning(text)).toEqual([
    `A default changes\n\n${detail.replaceAll("\n", " ")}\nw-2: stays\n  set:\n    a: b`,
  ]);
  const narrow =
    "╷\n│ Warning: A default changes\n│ \n│ demo-cp-1, demo-cp-2, demo-cp-3, demo-w-1: Talos v1.13.9 does this by\n│ itself: all of it.\n╵\n";
  expect(eachWarning(narrow)).toEqual([
    "A default changes\n\ndemo-cp-1, demo-cp-2, demo-cp-3, demo-w-1: Talos v1.13.9 does this by itself: all of it.",
  ]);
});

describe.each([
  { plan: "without a warning", text: refreshed + none, warnings: "", unseen: undefined },
  { plan: "with a warning about settings", text: settings + refreshed + none, warnings: "", unseen: undefined },
  { plan: "with changes only", text: refreshed + some, warnings: "", unseen: undefined },
  { plan: "with a silent machine", text: refreshed + none + silent, warnings: silent, unseen: ["local-cp-1"] },
  { plan: "with changes and a silent machine", text: some + silent, warnings: silent, unseen: ["local-cp-1"] },
  { plan: "in colours", text: refreshed + none + coloured, warnings: boxed, unseen: ["local-cp-1"] },
  { plan: "that names no machine", text: refreshed + none + lost, warnings: lost, unseen: [] },
  { plan: "with another warning", text: none + deprecated, warnings: deprecated, unseen: undefined },
])("a plan $plan", ({ text, warnings, unseen }) => {
  test("shows what it warns of, and which machines were not seen", () => {
    expect(warningsIn(text)).toBe(warnings);
    expect(unseenIn(warningsIn(text), ["local-cp-1", "local-cp-10", "local-w-1"])).toEqual(unseen);
  });
});
