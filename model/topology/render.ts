// SPDX-License-Identifier: Apache-2.0
import { renderMermaid } from "./mermaid.ts";
import { renderSvg } from "./svg.ts";
import type { Topology } from "./topology.ts";

export type TopologyFormat = "svg" | "mermaid" | "json";

const renderers: Readonly<Record<TopologyFormat, (topology: Topology) => string>> = {
  svg: (topology) => renderSvg(topology),
  mermaid: renderMermaid,
  json: (topology) => `${JSON.stringify({ v: 1, ...topology }, undefined, 2)}\n`,
};

/** The same topology gives the same bytes, in every format. */
export function renderTopology(topology: Topology, format: TopologyFormat): string {
  return renderers[format](topology);
}
