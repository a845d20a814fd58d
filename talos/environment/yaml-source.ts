// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../errors.ts";
import { parseYamlDocument, toPlainData, type YamlNode } from "../yaml/index.ts";
import type { Fault, Position } from "./fault.ts";

export type Path = readonly (string | number)[];

/** A YAML file with the position of everything in it. */
export class YamlSource {
  readonly file: string;
  /** The plain data; an empty object when the file is empty or could not be read. */
  readonly value: unknown;
  /** What is wrong with it as YAML. The data are of no use unless this is empty. */
  readonly faults: readonly Fault[];
  readonly #lines: readonly string[];
  readonly #root: YamlNode | undefined;

  private constructor(file: string, text: string) {
    this.file = file;
    this.#lines = text.split(/\r?\n/);
    try {
      this.#root = parseYamlDocument(text, file);
      this.value = toPlainData(this.#root) ?? {};
      this.faults = [];
    } catch (error) {
      if (!(error instanceof TalosError)) throw error;
      this.value = {};
      this.faults = [this.#fromError(error)];
    }
  }

  static parse(file: string, text: string): YamlSource {
    return new YamlSource(file, text);
  }

  /** Where the value at `path` stands, or undefined when the file does not have it. */
  locate(path: Path, part: "key" | "value" = "value"): Position | undefined {
    let node = this.#root;
    let key: YamlNode | undefined;
    for (const step of path) {
      if (node?.kind === "mapping") {
        const entry = node.entries.find((candidate) => candidate.key.text === String(step));
        key = entry?.key;
        node = entry?.value;
      } else if (node?.kind === "sequence" && typeof step === "number") {
        node = node.items[step];
        key = node;
      } else return undefined;
      if (node === undefined) return undefined;
    }
    const chosen = part === "key" ? key : node;
    return chosen === undefined ? undefined : this.#position(chosen.line, chosen.column);
  }

  /** The beginning of the first line that says something. */
  get start(): Position {
    const index = this.#lines.findIndex((line) => line.trim() !== "" && !line.trimStart().startsWith("#"));
    return this.#position(Math.max(index, 0) + 1, 1);
  }

  #position(line: number, column: number): Position {
    return { file: this.file, line, column, text: this.#lines[line - 1] ?? "" };
  }

  #fromError(error: TalosError): Fault {
    const [, line, column, message] = /^.*?:(\d+):(\d+): (.*)$/s.exec(error.message) ?? [];
    const position = line === undefined ? this.start : this.#position(Number(line), Number(column));
    const found = (message ?? error.message).replace(/^found /, "");
    return {
      position,
      path: "",
      found,
      expected: "YAML that can be read",
      hint: error.hint ?? "Correct the line that is shown.",
    };
  }
}
