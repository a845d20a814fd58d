// SPDX-License-Identifier: Apache-2.0
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { question } from "../../cli/ask.ts";

/** A person at a terminal, in raw mode as readline sets it: keys come as they are pressed. */
function asked(): { answer: Promise<string | undefined>; press(keys: string): void; readonly shown: string } {
  const stop = new AbortController();
  const [input, output] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true, columns: 80 })];
  const interrupt = () => stop.abort(new DOMException("SIGINT", "AbortError"));
  const answer = question("Sure? ", stop.signal, { input, output, interrupt });
  return { answer, press: (keys) => void input.write(keys), shown: String(output.read()) };
}

test("an answer is what was typed until the end of the line", async () => {
  const { answer, press, shown } = asked();
  press("lab\r");
  expect(await answer).toBe("lab");
  expect(shown).toContain("Sure? ");
});

test("the end of the input is no answer", async () => {
  const { answer, press } = asked();
  press("\u0004");
  expect(await answer).toBeUndefined();
});

test("Ctrl-C stops the command as it does anywhere else", async () => {
  const { answer, press } = asked();
  press("la\u0003");
  await expect(answer).rejects.toMatchObject({ name: "AbortError", message: "SIGINT" });
});

test("each of several questions shows what is typed once", async () => {
  const [input, output] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true, columns: 80 })];
  const terminal = { input, output, interrupt: () => {} };
  for (const text of ["Kind? ", "Count? ", "Name? "]) {
    const answer = question(text, new AbortController().signal, terminal);
    output.read();
    input.write("x\r");
    expect(await answer).toBe("x");
    expect(String(output.read()).match(/x/g)).toHaveLength(1);
  }
});
