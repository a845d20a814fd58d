// SPDX-License-Identifier: Apache-2.0

/** The person's screen and keys. */
export interface Terminal {
  size(): { readonly columns: number; readonly rows: number };
  show(lines: readonly string[]): void;
  /** Calls back for each key, as the terminal sends it, until `close`. */
  onKey(listener: (key: string) => void): void;
  onResize(listener: () => void): void;
  /** Gives the screen back as it was. */
  close(): void;
}

const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";
const home = "\u001b[H";
const clearLine = "\u001b[K";

const escapeCode = "\u001b";
const key = new RegExp(`${escapeCode}\\[[A-Z]|[\\s\\S]`, "gu");

/** Keys that were pressed fast come together. */
export const keysIn = (data: string): readonly string[] => data.match(key) ?? [];

/** The terminal of this process, on a screen of its own: what stood there before comes back. */
export function processTerminal(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Terminal {
  output.write(enter);
  input.setRawMode(true);
  input.setEncoding("utf8");
  input.resume();
  const listeners: (() => void)[] = [];
  return {
    size: () => ({ columns: output.columns, rows: output.rows }),
    show: (lines) => void output.write(`${home}${lines.map((line) => `${line}${clearLine}`).join("\r\n")}`),
    onKey: (listener) => void input.on("data", (data) => keysIn(String(data)).forEach(listener)),
    onResize: (listener) => {
      listeners.push(listener);
      output.on("resize", listener);
    },
    close: () => {
      for (const listener of listeners) output.off("resize", listener);
      input.removeAllListeners("data");
      input.setRawMode(false);
      input.pause();
      output.write(leave);
    },
  };
}
