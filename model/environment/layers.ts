// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import type { YamlNode } from "../../talos/yaml/index.ts";
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
    return this.#search(path, (source, inside, isMounted) =>
      inside.length === 0 && isMounted ? source.start : source.locate(inside, part),
    );
  }

  /** What stands at exactly `path`, and the file that has it. */
  findNode(path: Path): { readonly source: YamlSource; readonly node: YamlNode } | undefined {
    return this.#search(path, (source, inside) => {
      const node = source.node(inside);
      return node === undefined ? undefined : { source, node };
    });
  }

  #search<T>(path: Path, look: (source: YamlSource, inside: Path, isMounted: boolean) => T | undefined): T | undefined {
    for (const { source, mountedAt } of this.#layers) {
      if (mountedAt.length > path.length || mountedAt.some((step, index) => step !== path[index])) continue;
      const found = look(source, path.slice(mountedAt.length), mountedAt.length > 0);
      if (found !== undefined) return found;
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
      ...given({ also: options.also }),
    };
  }
}
