// SPDX-License-Identifier: Apache-2.0
import type { Fault, Position } from "./fault.ts";
import { formatFound, formatPath } from "./path.ts";
import type { Path, YamlSource } from "./yaml-source.ts";

interface Layer {
  readonly source: YamlSource;
  /** Where the file's root stands in the merged data. */
  readonly mountedAt: Path;
}

/** Remembers which file each piece of the merged data came from, so that a fault points at what a person wrote. */
export class Layers {
  readonly #main: YamlSource;
  readonly #layers: Layer[];

  /** The environment's own file comes first, then the files merged under it. */
  constructor(main: YamlSource, below: readonly YamlSource[]) {
    this.#main = main;
    this.#layers = [main, ...below].map((source) => ({ source, mountedAt: [] }));
  }

  /** Says that the data at `path` came from a file of its own. */
  mount(source: YamlSource, path: Path): void {
    this.#layers.unshift({ source, mountedAt: path });
  }

  /** The place of `path`, or of the nearest thing around it that is written down. */
  locate(path: Path, part: "key" | "value" = "value"): Position {
    for (let length = path.length; length > 0; length -= 1) {
      const position = this.find(path.slice(0, length), length === path.length ? part : "key");
      if (position !== undefined) return position;
    }
    return this.#main.start;
  }

  /** The place of exactly `path`, or undefined when nobody wrote it. */
  find(path: Path, part: "key" | "value" = "value"): Position | undefined {
    for (const { source, mountedAt } of this.#layers) {
      if (mountedAt.length > path.length || mountedAt.some((step, index) => step !== path[index])) continue;
      const inside = path.slice(mountedAt.length);
      const position = inside.length === 0 && mountedAt.length > 0 ? source.start : source.locate(inside, part);
      if (position !== undefined) return position;
    }
    return undefined;
  }

  fault(
    path: Path,
    words: { readonly found?: string; readonly value?: unknown; readonly expected: string; readonly hint: string },
    options: { readonly part?: "key" | "value"; readonly also?: Position | undefined } = {},
  ): Fault {
    return {
      position: this.locate(path, options.part),
      path: formatPath(path),
      found: words.found ?? formatFound(words.value),
      expected: words.expected,
      hint: words.hint,
      ...(options.also === undefined ? {} : { also: options.also }),
    };
  }
}
