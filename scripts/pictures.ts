// SPDX-License-Identifier: Apache-2.0
import { loadEnvironment } from "../talos/environment/index.ts";
import { renderTopology, topologyOf } from "../topology/index.ts";

/** The environments that the documents show. */
const shown = ["local", "lab", "production"];

/** The pictures in the documents, by file: drawn by the same command that users have. */
export function pictures(): ReadonlyMap<string, string> {
  return new Map(
    shown.map((name) => [`docs/pictures/${name}.svg`, renderTopology(topologyOf(loadEnvironment(".", name)), "svg")]),
  );
}
