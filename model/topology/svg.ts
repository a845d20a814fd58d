// SPDX-License-Identifier: Apache-2.0
import { type Box, type Card, headingOf, indentOf, layOut, type PictureForm } from "./layout.ts";
import { renderMermaid } from "./mermaid.ts";
import { type MachineState, machineStates, type Topology } from "./topology.ts";

const style = `
  .page { fill: #ffffff }
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .small { font-size: 11px; fill: #57606a }
  .name { font-weight: 600 }
  .heading { font-weight: 600; paint-order: stroke; stroke: #ffffff; stroke-width: 4px }
  .place, .cluster { fill: none; stroke: #8c959f }
  .place { stroke-dasharray: 4 3 }
  .card { fill: #f6f8fa; stroke: #8c959f }
  .controlplane { stroke-width: 2 }
  .endpoint { fill: #ddf4ff; stroke: #0969da }
  .link { fill: none; stroke: #57606a }
  .ready { fill: #1a7f37 } .starting { fill: #9a6700 } .maintenance { fill: #8250df } .unreachable { fill: #cf222e }
  .planned { fill: none; stroke: #57606a; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #e6edf3 } .heading { stroke: #0d1117 } .small { fill: #9da7b3 }
    .card { fill: #161b22 } .endpoint { fill: #0c2d4a; stroke: #58a6ff }
    .ready { fill: #3fb950 } .starting { fill: #d29922 } .maintenance { fill: #a371f7 } .unreachable { fill: #f85149 }
    .link, .planned { stroke: #9da7b3 }
  }`;

/** One drawing that needs nothing from outside, in light and dark. The same topology gives the same bytes. */
export function renderSvg(topology: Topology, form: PictureForm = "wide"): string {
  const { width, height, endpoint, cluster, places, elastic, links } = layOut(topology, form);
  const title = `Topology of ${topology.cluster}`;
  const reached = [topology.endpoint.through, portsOf(topology)].filter((part) => part !== "").join(", port ");
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${style}\n</style>`,
    // Whoever shows the picture may have a ground of another colour than the text was chosen for.
    `<rect class="page" width="100%" height="100%"/>`,
    ...links.map(
      ([from, to]) =>
        `<path class="link" d="M${from.x} ${from.y} C${from.x} ${(from.y + to.y) / 2} ${to.x} ${(from.y + to.y) / 2} ${to.x} ${to.y}"/>`,
    ),
    rectangle("endpoint", endpoint, 16),
    centred(endpoint, 22, topology.endpoint.name, "name"),
    centred(endpoint, 39, reached, "small"),
    rectangle("cluster", cluster, 8),
    text(cluster.x + 12, cluster.y + 20, headingOf(topology), "heading"),
    ...places.flatMap(({ box, name, cards }) => [
      rectangle("place", box, 6),
      text(box.x + 10, box.y + 18, name, "heading"),
      ...cards.flatMap(drawCard),
    ]),
    ...elastic.flatMap(drawCard),
    ...legend(topology, height),
    "</svg>",
  ];
  return `${parts.join("\n")}\n`;
}

/** Which ports the endpoint passes on. */
function portsOf({ endpoint }: Topology): string {
  return endpoint.ports.join(" and ");
}

function drawCard({ box, machine, lines, whole }: Card): string[] {
  const indent = indentOf(machine);
  const drawn = [
    rectangle(machine?.role === "controlplane" ? "card controlplane" : "card", box, 4),
    ...(machine === undefined ? [] : [shape(machine.state, box.x + 15, box.y + 15)]),
    ...lines.map((line, row) => text(box.x + indent, box.y + 19 + row * 15, line, row === 0 ? "name" : "small")),
  ];
  return whole === undefined ? drawn : [`<g><title>${escapeXml(whole)}</title>`, ...drawn, "</g>"];
}

/** Colour and shape both tell the state. */
function shape(state: MachineState, x: number, y: number): string {
  const named = `class="${state}"`;
  switch (state) {
    case "ready":
    case "planned":
      return `<circle ${named} cx="${x}" cy="${y}" r="6"/>`;
    case "starting":
      return `<path ${named} d="M${x} ${y - 7} l7 13 h-14 z"/>`;
    case "maintenance":
      return `<rect ${named} x="${x - 6}" y="${y - 6}" width="12" height="12"/>`;
    case "unreachable":
      return `<path ${named} d="M${x - 6} ${y - 3} l3 -3 l3 3 l3 -3 l3 3 l-3 3 l3 3 l-3 3 l-3 -3 l-3 3 l-3 -3 l3 -3 z"/>`;
  }
}

/** Only the states that are in the picture, and none for a plan. */
function legend({ places }: Topology, height: number): string[] {
  const present = new Set(places.flatMap(({ machines }) => machines.map(({ state }) => state)));
  if (present.size === 0 || (present.size === 1 && present.has("planned"))) return [];
  return machineStates
    .filter((state) => present.has(state))
    .flatMap((state, index) => {
      const x = 24 + index * 110;
      return [shape(state, x, height - 14), text(x + 12, height - 10, state, "small")];
    });
}

function rectangle(className: string, { x, y, width, height }: Box, radius: number): string {
  return `<rect class="${className}" x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}"/>`;
}

function text(x: number, y: number, words: string, className: string): string {
  return `<text class="${className}" x="${x}" y="${y}">${escapeXml(words)}</text>`;
}

function centred(box: Box, row: number, words: string, className: string): string {
  const x = box.x + box.width / 2;
  return `<text class="${className}" text-anchor="middle" x="${x}" y="${box.y + row}">${escapeXml(words)}</text>`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeXml(words: string): string {
  return words.replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? sign);
}

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
