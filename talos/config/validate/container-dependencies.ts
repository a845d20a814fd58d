// SPDX-License-Identifier: Apache-2.0
import type { ConfigDocument } from "../document/config-file.ts";
import { textAt, textsAt } from "../document/value.ts";
import { type Finding, quoted } from "./findings.ts";

/** Containers must not wait for one that is not there, nor for each other. */
export function* dependencyFindings(documents: readonly ConfigDocument[]): Iterable<Finding> {
  const edges = new Map(
    documents
      .filter(({ kind }) => kind === "ContainerConfig")
      .map(({ section }) => [textAt(section, "name"), textsAt(section, "dependsOn.containers")] as const),
  );
  const path = "dependsOn.containers";
  for (const [name, needs] of edges)
    for (const need of needs.filter((one) => !edges.has(one))) {
      const message = `container ${quoted(name)} depends on container ${quoted(need)}, which is not configured`;
      yield { severity: "error", document: `ContainerConfig/${name}`, path, message };
    }
  const cycles = cyclesIn(edges);
  if (cycles.length === 0) return;
  const message = `container dependsOn cycle detected: ${cycles.join(", ")}`;
  yield { severity: "error", document: "", path, message };
}

function cyclesIn(edges: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>();
  const found = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (done.has(name)) return;
    const start = path.indexOf(name);
    if (start >= 0) {
      found.add([...path.slice(start), name].join(" -> "));
      return;
    }
    for (const need of edges.get(name) ?? []) if (edges.has(need)) visit(need, [...path, name]);
    done.add(name);
  };
  for (const name of [...edges.keys()].sort()) visit(name, []);
  return [...found].sort();
}
