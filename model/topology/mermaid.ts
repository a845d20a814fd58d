// SPDX-License-Identifier: Apache-2.0
import { isGiven } from "../../talos/given.ts";
import type { MachineState, Topology, TopologyMachine } from "./topology.ts";

/** A shape for each state, so that nobody has to tell colours apart. */
const shapes: Readonly<Record<MachineState, readonly [open: string, close: string]>> = {
  ready: ["(", ")"],
  starting: ["{{", "}}"],
  maintenance: ["[/", "/]"],
  unreachable: ["[\\", "\\]"],
  planned: ["[", "]"],
};

/** A flowchart that GitHub and GitLab draw. */
export function renderMermaid(topology: Topology): string {
  const { endpoint, places, elastic, network } = topology;
  const ports = endpoint.ports.length === 0 ? "" : `|${endpoint.ports.join(", ")}|`;
  const lines = [
    "flowchart TB",
    `  endpoint([${label(endpoint.through, endpoint.name)}])`,
    `  subgraph cluster [${label(topology.cluster, network)}]`,
    ...places.flatMap((place, index) => [
      `    subgraph place${index + 1} [${label(place.name)}]`,
      ...place.machines.map((machine) => `      ${id(machine.name)}${node(machine)}`),
      "    end",
    ]),
    ...elastic.map(({ name, min, max }) => `    ${id(name)}[[${label(name, `${min} to ${max} machines`)}]]`),
    "  end",
    ...endpoint.machines.map((name) => `  endpoint -->${ports} ${id(name)}`),
  ];
  if (endpoint.machines.length === 0) lines.push("  cluster --> endpoint");
  return `${lines.join("\n")}\n`;
}

function node({ name, role, address, state, note }: TopologyMachine): string {
  const [open, close] = shapes[state];
  const words = [
    name,
    role === "controlplane" ? "control plane" : "worker",
    address,
    state === "planned" ? undefined : state,
    note,
  ];
  return `${open}${label(...words)}${close}`;
}

const id = (name: string) => `m_${name.replaceAll(/[^A-Za-z0-9]/g, "_")}`;

/** Quoted text of the parts that there are; mermaid's own signs are written as entities. */
function label(...parts: readonly (string | undefined)[]): string {
  const safe = parts.filter(isGiven).map((part) => part.replaceAll(/[#"<>\n]/g, (sign) => `#${sign.codePointAt(0)};`));
  return `"${safe.join("<br/>")}"`;
}
