// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "../../talos/errors.ts";
import { parseYamlDocument, toPlainData, type YamlNode } from "../../talos/yaml/index.ts";
import type { Fault, Position } from "./fault.ts";

export type Path = readonly (string | number)[];

/** A YAML file with the position of everything in it. */
export class YamlSource {
  readonly file: string;
  /** The plain data; an empty object when the file is empty or could not be read. */
  readonly value: unknown;
  /** What is wrong with it as YAML. */
  readonly faults: readonly Fault[];
  /** Whether it could be read; of a key that is there twice the first counts. Else the data are of no use. */
  readonly isReadable: boolean;
  readonly #lines: readonly string[];
  readonly #root: YamlNode | undefined;

  private constructor(file: string, text: string) {
    this.file = file;
    this.#lines = text.split(/\r?\n/);
    const again: Fault[] = [];
    const onDuplicate = (error: TalosError) =>
      again.push({ ...syntaxFault(error, file, this.#lines), expected: "each key once" });
    try {
      this.#root = parseYamlDocument(text, file, { onDuplicate });
      this.value = toPlainData(this.#root) ?? {};
      this.faults = again;
      this.isReadable = true;
    } catch (error) {
      if (!(error instanceof TalosError)) throw error;
      this.value = {};
      this.faults = [syntaxFault(error, file, this.#lines)];
      this.isReadable = false;
    }
  }

  static parse(file: string, text: string): YamlSource {
    return new YamlSource(file, text);
  }

  /** Where the value at `path` stands, or undefined when the file does not have it. */
  locate(path: Path, part: "key" | "value" = "value"): Position | undefined {
    const chosen = this.#find(path)?.[part];
    return chosen === undefined ? undefined : positionAt(this.file, this.#lines, chosen);
  }

  /** What stands at `path`. */
  node(path: Path): YamlNode | undefined {
    return this.#find(path)?.value;
  }

  /** How far a line of the file is indented. */
  indentOf(line: number): number {
    return /^ */.exec(this.#lines[line - 1] ?? "")?.[0].length ?? 0;
  }

  /** The beginning of the first line that says something. */
  get start(): Position {
    return startOf(this.file, this.#lines);
  }

  #find(path: Path): { readonly key: YamlNode | undefined; readonly value: YamlNode } | undefined {
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
    }
    return node === undefined ? undefined : { key, value: node };
  }
}

/** What is wrong with a text as YAML, from the error that reading it gave. */
export function syntaxFault(error: TalosError, file: string, lines: readonly string[]): Fault {
  const [, line, column, message] = /^.*?:(\d+):(\d+): (.*)$/s.exec(error.message) ?? [];
  const place = { line: Number(line), column: Number(column) };
  return {
    position: line === undefined ? startOf(file, lines) : positionAt(file, lines, place),
    path: "",
    found: (message ?? error.message).replace(/^found /, ""),
    expected: "YAML that can be read",
    hint: error.hint ?? "Correct the line that is shown.",
  };
}

function positionAt(
  file: string,
  lines: readonly string[],
  { line, column }: { readonly line: number; readonly column: number },
): Position {
  return { file, line, column, text: lines[line - 1] ?? "" };
}

function startOf(file: string, lines: readonly string[]): Position {
  const index = lines.findIndex((line) => line.trim() !== "" && !line.trimStart().startsWith("#"));
  return positionAt(file, lines, { line: Math.max(index, 0) + 1, column: 1 });
}
