// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { onlyClustersRefused } from "../../../workspace/terraform/terraform-output.ts";

const version = { "@module": "tofu.ui", type: "version", tofu: "1.12.6", ui: "1.2" };
const told = (severity: string, address?: string) => ({
  type: "diagnostic",
  diagnostic: { severity, summary: "Versions only go up", detail: "with talosmith_cluster.cluster", address },
});
const cluster = "talosmith_cluster.cluster";

test.each<[string, readonly unknown[], boolean]>([
  ["nothing", [version], false],
  ["a refused cluster", [version, told("error", cluster)], true],
  ["a refused cluster in a module", [told("error", `module.a["x.y"].${cluster}`)], true],
  ["two refusals and another's warning", [told("error", cluster), told("warning"), told("error", cluster)], true],
  ["a warning alone", [told("warning", cluster)], false],
  ["an error of nobody, such as a lock", [told("error")], false],
  ["an error of another beside it", [told("error", cluster), told("error", "aws_instance.a")], false],
  ["an error of a likely name", [told("error", "other_talosmith_cluster.a")], false],
])("%s: whether only clusters refused", (_, messages, expected) => {
  const report = ["Warning: a setting of tofu", ...messages.map((message) => JSON.stringify(message)), ""].join("\n");
  expect(onlyClustersRefused(report)).toBe(expected);
});
