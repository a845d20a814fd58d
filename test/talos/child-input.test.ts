// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { giveInput } from "../../talos/child-input.ts";

// More than the pipe holds, so that some of it is left when the program has ended.
const input = "x".repeat(10 * 1024 * 1024);

test("a program that ends without reading its input is one that has ended, and no error of this process", async () => {
  const child = spawn("sh", ["-c", "exit 3"]);
  giveInput(child.stdin, input);
  expect(await once(child, "close")).toEqual([3, null]);
});

test("a program that reads its input gets all of it", async () => {
  const child = spawn("wc", ["-c"]);
  giveInput(child.stdin, input);
  const [counted] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  expect(Number(counted)).toBe(input.length);
});

test("nothing else ends the input of a program", () => {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts"]).toString();
  const files = listed.split("\n").filter((file) => file !== "" && !file.startsWith("test/"));
  expect(files.filter((file) => /stdin\??\.end\(/.test(readFileSync(file, "utf8")))).toEqual(["talos/child-input.ts"]);
});
