// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { runProgram } from "../../../workspace/terraform/run-program.ts";

const node = (script: string) => [process.execPath, ["-e", script]] as const;
const options = { cwd: process.cwd(), env: process.env, signal: new AbortController().signal };

test("a letter of several bytes that arrives in two pieces stays whole, on both outputs", async () => {
  const halves = (stream: string) =>
    `process.${stream}.write(Buffer.from([0xe2, 0x94])); setTimeout(() => process.${stream}.write(Buffer.from([0x82])), 100);`;
  let shown = "";
  const finished = await runProgram(...node(halves("stdout") + halves("stderr")), {
    ...options,
    show: (text) => {
      shown += text;
    },
  });
  expect(finished).toEqual({ code: 0, killedBy: undefined, stdout: "│", stderr: "│" });
  expect(shown).toBe("│");
});

test("line by line, nothing is kept", async () => {
  const lines: string[] = [];
  const script = `console.log("one\\ntwo"); process.exitCode = 3;`;
  const finished = await runProgram(...node(script), { ...options, onLine: (line) => lines.push(line) });
  expect([finished.code, finished.stdout, lines]).toEqual([3, "", ["one", "two"]]);
});

test("a program that is not there is an error", async () => {
  await expect(runProgram("/nowhere/terraform", [], options)).rejects.toThrow("ENOENT");
});

test("a stop interrupts the program and what it has started once, and its end is waited for", async () => {
  const stop = new AbortController();
  const grandchild = `process.on("SIGINT", () => { console.log("grandchild"); process.exit(); }); setInterval(() => {}, 1000); console.log("ready")`;
  const script = `process.on("SIGINT", () => console.log("interrupted"));
    const child = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(grandchild)}], { stdio: "inherit" });
    child.on("close", () => setTimeout(() => process.exit(7), 50));`;
  const said: string[] = [];
  const onLine = (line: string) => {
    said.push(line);
    if (line === "ready") stop.abort();
  };
  const { code } = await runProgram(...node(script), { ...options, signal: stop.signal, onLine });
  expect({ code, said: said.toSorted() }).toEqual({ code: 7, said: ["grandchild", "interrupted", "ready"] });
});

test("after a stop no program is begun", async () => {
  await expect(runProgram("/nowhere/terraform", [], { ...options, signal: AbortSignal.abort() })).rejects.toMatchObject(
    {
      code: "canceled",
    },
  );
});
