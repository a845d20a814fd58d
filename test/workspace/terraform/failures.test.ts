// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { errorsIn } from "../../../workspace/terraform/diagnostic-text.ts";
import { failureText, ownFailure } from "../../../workspace/terraform/failures.ts";

const secret = `Error: A secret in a patch

  with talosmith_cluster.cluster,
  on cdk.tf.json line 94, in resource.talosmith_cluster.cluster:
  94:         "machines": "\${{ for key in local.workers : key => { patches = [\\"password: not-to-be-told\\"] } }}",
    ├────────────────
    │ local.workers is "not-to-be-told"

The patch sets machine.registries.config.registry.example.com.auth.password,
which would be stored in plan and state for all to read.
`;

/** As terraform frames it for a person. */
function framed(words: string): string {
  return `╷\n${words.replaceAll(/^/gm, "│ ")}\n╵\n`;
}

const reading =
  "The patch sets machine.registries.config.registry.example.com.auth.password, which would be stored in plan and state for all to read.";

describe("the errors of terraform", () => {
  test.each([
    ["as lines", secret],
    ["in a frame", framed(secret)],
    ["after other lines", `talosmith_member.worker["w-1"]: Refreshing state...\n\n${secret}`],
  ])("are read %s, without what the stack says there", (_, words) => {
    expect(errorsIn(words)).toEqual([
      { summary: "A secret in a patch", detail: reading, address: "talosmith_cluster.cluster" },
    ]);
  });

  test("each with its own resource", () => {
    const other =
      'Error: creating EC2 Instance: quota\n\n  with aws_instance.worker["w-1"],\n  on cdk.tf.json line 3, in x:\n   3: y\n';
    const errors = errorsIn(`${secret}\n${other}\nError: Invalid backend\n\nNo bucket.\n`);
    expect(errors.map(({ address }) => address)).toEqual([
      "talosmith_cluster.cluster",
      'aws_instance.worker["w-1"]',
      undefined,
    ]);
    expect(failureText(errors)).toBe(
      [
        `A secret in a patch (talosmith_cluster.cluster)\n  ${reading}`,
        'creating EC2 Instance: quota (aws_instance.worker["w-1"])',
        "Invalid backend\n  No bucket.",
      ].join("\n\n"),
    );
  });
});

describe("what has failed", () => {
  const address = "talosmith_cluster.cluster";
  const other = { summary: "creating EC2 Instance: quota", detail: "", address: "aws_instance.a" };
  const bad = { summary: "Not possible now", detail: "w-1 came back\n\nLook at its console.", address };

  test.each([
    ["in the sentence and the hint of the engine", [bad], { message: "w-1 came back", hint: "Look at its console." }],
    [
      "once, when several resources say it",
      [bad, { ...bad, address: 'module.a.talosmith_member.w["a"]' }],
      {
        message: "w-1 came back",
        hint: "Look at its console.",
      },
    ],
    [
      "with a title that says more than the kind of error",
      [{ ...bad, summary: "A patch file is missing", detail: "a" }],
      {
        message: "A patch file is missing\na",
        hint: undefined,
      },
    ],
    [
      "all of it, when it is more than one thing",
      [bad, { ...bad, detail: "w-2 is off" }],
      {
        message: "w-1 came back\n\nLook at its console.\n\nw-2 is off",
        hint: undefined,
      },
    ],
    ["in Terraform's words when another's resource has failed", [bad, other], undefined],
    ["in Terraform's words when there is no error", [], undefined],
  ])("is told %s", (_, errors, expected) => {
    expect(ownFailure(errors)).toEqual(expected);
  });
});
