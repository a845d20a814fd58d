// SPDX-License-Identifier: Apache-2.0
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadEnvironment } from "../model/index.ts";
import { renderTopology, topologyOf } from "../model/topology/index.ts";

/** The environments that the documents show. */
const shown = ["local", "lab", "production"];

/** The pictures in the documents and the examples, by file: drawn by the same command that users have. */
export function pictures(): ReadonlyMap<string, string> {
  const draw = (root: string, name: string) => renderTopology(topologyOf(loadEnvironment(root, name)), "svg");
  return new Map([
    ...shown.map((name) => [`docs/pictures/${name}.svg`, draw(".", name)] as const),
    ...examples().map(({ folder, root, name }) => [join(folder, "topology.svg"), draw(root, name)] as const),
  ]);
}

/** Examples whose README shows their environment, which its picture names. */
function examples(): readonly { readonly folder: string; readonly root: string; readonly name: string }[] {
  return readdirSync("examples").flatMap((example) => {
    const folder = join("examples", example);
    const readme = join(folder, "README.md");
    const name = existsSync(readme)
      ? /!\[The environment ([\w-]+)\]\(topology\.svg\)/.exec(readFileSync(readme, "utf8"))?.[1]
      : undefined;
    if (name === undefined) return [];
    return [{ folder, root: existsSync(join(folder, "environments")) ? folder : ".", name }];
  });
}
