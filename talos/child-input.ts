// SPDX-License-Identifier: Apache-2.0
import type { Writable } from "node:stream";

/** Gives another program its whole input. One that ends without reading it shows by its exit code and output why. */
export function giveInput(stdin: Writable | null | undefined, input: string): void {
  // The error of a write after the program has ended would end this process, before it knows how the program ended.
  stdin?.on("error", () => {});
  stdin?.end(input);
}
