// SPDX-License-Identifier: Apache-2.0
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { loadEnvironment } from "../../model/index.ts";
import { renderTopology, topologyOf } from "../../model/topology/index.ts";

export interface Diagram {
  /** Page and heading, or the environment that it is drawn from. */
  readonly name: string;
  readonly page: string;
  readonly heading: string;
  readonly source: string;
}

/** Every mermaid diagram of the documents, with the heading it stands under; and what `topology` makes of an environment. */
export function documentDiagrams(): readonly Diagram[] {
  const pages = [
    ...readdirSync("docs").map((name) => `docs/${name}`),
    ...readdirSync("examples").map((name) => `examples/${name}/README.md`),
  ].filter((page) => page.endsWith(".md") && existsSync(page));
  const drawn = renderTopology(topologyOf(loadEnvironment(".", "lab")), "mermaid");
  return [
    ...pages.flatMap((page) => diagramsOf(page, readFileSync(page, "utf8"))),
    { name: "topology lab", page: "topology", heading: "lab", source: drawn },
  ];
}

function diagramsOf(page: string, text: string): readonly Diagram[] {
  const parts = text.split(/^(?=#{1,3} )/m);
  return parts.flatMap((part) => {
    const heading = /^#+ (.*)$/m.exec(part)?.[1] ?? "";
    const blocks = [...part.matchAll(/^```mermaid\n([\s\S]*?)^```/gm)];
    return blocks.map(([, source = ""], index) => ({
      name: `${page}: ${heading} ${index + 1}`,
      page,
      heading,
      source,
    }));
  });
}
