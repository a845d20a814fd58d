// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";

/** The files of a bundle. Nothing gets in without passing `redact`, and what cannot be had is told instead of failing. */
export class Entries {
  readonly #redact: (text: string) => string;
  readonly #files = new Map<string, string>();
  readonly #missing: string[] = [];

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  add(name: string, text: string): void {
    this.#files.set(name, this.#redact(text));
  }

  /** Adds what `look` finds; undefined where there is nothing to tell. */
  async collect(name: string, look: () => Promise<string | undefined>): Promise<void> {
    try {
      const text = await look();
      if (text !== undefined) this.add(name, text);
    } catch (error) {
      this.#missing.push(`${name}: ${TalosError.from(error).message}`);
    }
  }

  /** By name, with the list of what is missing. */
  files(): ReadonlyMap<string, string> {
    const missing = this.#missing.length === 0 ? "nothing\n" : `${this.#missing.join("\n")}\n`;
    return new Map([...this.#files, ["missing.txt", this.#redact(missing)]]);
  }
}
