// SPDX-License-Identifier: Apache-2.0
import { given } from "../../talos/given.ts";
import type { ElasticPool, Place, Topology, TopologyMachine } from "./topology.ts";

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** A machine, several alike, or a pool that scales by itself. */
export interface Card {
  readonly box: Box;
  readonly machine?: TopologyMachine;
  /** Name first, then what is to be said of it, as much as goes into the box. */
  readonly lines: readonly string[];
  /** All of it, where something was left out. */
  readonly whole?: string;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly endpoint: Box;
  readonly cluster: Box;
  readonly places: readonly { readonly box: Box; readonly name: string; readonly cards: readonly Card[] }[];
  readonly elastic: readonly Card[];
  /** From the endpoint to the machines behind it. */
  readonly links: readonly (readonly [from: Point, to: Point])[];
}

const gap = 12;
const margin = 16;
const leastCardWidth = 190;
const mostCardWidth = 290;
const cardHeight = 56;
const endpointBox = { width: 260, height: 50 };
const headingHeight = 28;
const legendHeight = 28;

/** More of a pool in one place are told by their number, unless they are in trouble. */
const mostOfAPool = 8;

/** Wide: places side by side, machines in rows. Narrow, for a telephone: everything below each other. */
export type PictureForm = "wide" | "narrow";

/** Where everything goes: in each place, control planes in rows above workers; below the places, what has none. */
export function layOut(topology: Topology, form: PictureForm): Layout {
  const top = margin + endpointBox.height + 44;
  const contents = topology.places.map(cardsOf);
  const pools = topology.elastic.map(elasticCard);
  const cardWidth = widthFor([...contents.flat(), ...pools]);
  const mostColumns = form === "wide" ? Math.max(1, 4 - topology.places.length) : 1;
  const columns = Math.min(mostColumns, widestGroup(contents));
  const heading = Math.max(...topology.places.map(({ name }) => 2 * gap + widthOf(name, 0)));
  const rows = contents.map((cards) => Math.max(1, rowsOf(cards, columns)));
  const boxes = placeBoxes(
    { width: Math.max(gap + columns * (cardWidth + gap), heading), rows, form },
    { x: margin + gap, y: top + headingHeight },
  );
  const places = boxes.map((box, index) => {
    const cards = arrange(contents[index] ?? [], columns, cardWidth, { x: box.x + gap, y: box.y + headingHeight });
    return { box, name: topology.places[index]?.name ?? "", cards };
  });
  const right = Math.max(margin + gap, ...boxes.map(({ x, width }) => x + width + gap));
  const below = Math.max(top + headingHeight, ...boxes.map(({ y, height }) => y + height)) + gap;
  const across = Math.max(1, Math.floor((right - margin - gap) / (cardWidth + gap)));
  const elastic = arrange(pools, across, cardWidth, { x: margin + gap, y: below });
  const elasticRows = Math.ceil(pools.length / across);
  const cluster = {
    x: margin,
    y: top,
    width: right - margin,
    height: below - top + elasticRows * (cardHeight + gap),
  };
  const width = Math.max(cluster.width, endpointBox.width) + 2 * margin;
  const behind = new Set(topology.endpoint.machines);
  const title = margin + 2 * gap + widthOf(headingOf(topology), 0);
  const ends = places.flatMap(({ box: place, name, cards }) => {
    const free = Math.max(title, place.x + 2 * gap + widthOf(name, 0));
    return cards
      .filter(({ machine }) => machine !== undefined && behind.has(machine.name))
      .map(({ box }) => ({ x: arrival(box, free), y: box.y, middle: box.x + box.width / 2 }));
  });
  const endpoint = { ...endpointBox, x: above(ends, width), y: margin };
  const links = ends.map((end) => [departure(endpoint, end, form), end] as const);
  return { width, height: cluster.y + cluster.height + legendHeight + gap, endpoint, cluster, places, elastic, links };
}

interface PlaceSizes {
  readonly width: number;
  /** Of each place. */
  readonly rows: readonly number[];
  readonly form: PictureForm;
}

/** Side by side, all as high as the highest; or below each other. */
function placeBoxes({ width, rows, form }: PlaceSizes, { x, y }: Point): readonly Box[] {
  const heightOf = (count: number) => headingHeight + count * (cardHeight + gap);
  if (form === "wide") {
    const height = heightOf(Math.max(1, ...rows));
    return rows.map((_, index) => ({ x: x + index * (width + gap), y, width, height }));
  }
  let next = y;
  return rows.map((count) => {
    const box = { x, y: next, width, height: heightOf(count) };
    next += box.height + gap;
    return box;
  });
}

/** Where each machine that has a card of its own is in the picture. */
export function machineBoxes(
  topology: Topology,
  form: PictureForm,
): {
  readonly width: number;
  readonly height: number;
  readonly machines: readonly (Box & { readonly name: string })[];
} {
  const { width, height, places } = layOut(topology, form);
  const cards = places.flatMap((place) => place.cards);
  return {
    width,
    height,
    machines: cards.flatMap(({ box, machine }) => (machine ? [{ ...box, name: machine.name }] : [])),
  };
}

/** What is written above the places. */
export const headingOf = ({ cluster, network }: Topology) => [cluster, network].filter(Boolean).join(" · ");

/** Where the endpoint stands: over the middle of what it leads to, within the picture. */
function above(ends: readonly (Point & { readonly middle: number })[], width: number): number {
  const [first = { x: width / 2 }, ...others] = ends;
  const columns = others.length === 0 ? [first.x] : ends.map(({ middle }) => middle);
  const middle = (Math.min(...columns) + Math.max(...columns)) / 2;
  return Math.min(Math.max(margin, middle - endpointBox.width / 2), width - margin - endpointBox.width);
}

/** In the middle of the endpoint; where all is below each other, straight above what it leads to. */
function departure({ x, y, width, height }: Box, end: Point, form: PictureForm): Point {
  const straight = Math.min(Math.max(end.x, x + margin), x + width - margin);
  return { x: form === "wide" ? x + width / 2 : straight, y: y + height };
}

/** In the middle of a card, or beside the headings above it where there is room for that. */
function arrival({ x, width }: Box, free: number): number {
  const middle = x + width / 2;
  return Math.max(middle, Math.min(free, x + width - gap));
}

/** How wide a line of a card is, at most, in any usual font: names are larger and bolder than the rest. */
function widthOf(line: string, row: number): number {
  return line.length * (row === 0 ? 8.2 : 6.4);
}

/** Beside the mark of a machine, and the same on the right. */
export const indentOf = (machine: TopologyMachine | undefined) => (machine === undefined ? 10 : 28);

function widthFor(contents: readonly Content[]): number {
  const wanted = contents.flatMap(({ machine, lines }) =>
    lines.map((line, row) => indentOf(machine) + widthOf(line, row) + 10),
  );
  return Math.ceil(Math.min(mostCardWidth, Math.max(leastCardWidth, ...wanted)));
}

/** As much of a line as a card has room for. */
function fitting(line: string, row: number, room: number): string {
  if (widthOf(line, row) <= room) return line;
  return `${line.slice(0, Math.floor(room / widthOf("m", row)) - 1).trimEnd()}…`;
}

/** No more columns than somebody stands in. */
function widestGroup(contents: readonly (readonly Content[])[]): number {
  const sizes = contents.flatMap((cards) =>
    [...new Set(cards.map(({ group }) => group))].map((group) => cards.filter((card) => card.group === group).length),
  );
  return Math.max(1, ...sizes);
}

interface Content {
  readonly machine?: TopologyMachine;
  readonly lines: readonly string[];
  readonly group: string;
}

function cardsOf({ machines }: Place): readonly Content[] {
  const pools = [...new Set(machines.map(({ pool }) => pool))];
  return pools.flatMap((pool) => {
    const members = machines.filter((machine) => machine.pool === pool);
    const shown = new Set(
      members.length <= mostOfAPool ? members : [...members.slice(0, mostOfAPool - 1), ...members.filter(inTrouble)],
    );
    const hidden = members.length - shown.size;
    return [
      ...members.filter((machine) => shown.has(machine)).map(machineCard),
      ...(hidden > 0 ? [{ group: groupOf(members[0]), lines: [`${hidden} more`, `of pool ${pool}`] }] : []),
    ];
  });
}

const inTrouble = ({ state }: TopologyMachine) => state !== "ready" && state !== "planned";

const groupOf = (machine: TopologyMachine | undefined) => machine?.role ?? "worker";

function machineCard(machine: TopologyMachine): Content {
  const { name, role, address } = machine;
  const kind = role === "controlplane" ? "control plane" : "worker";
  const details = [kind, address].filter((part) => part !== undefined).join(" · ");
  return { group: groupOf(machine), machine, lines: [name, details, remark(machine)] };
}

/** Its ports, after the version where it is well; else what is the matter with it. */
function remark(machine: TopologyMachine): string {
  const { note, ports } = machine;
  if (inTrouble(machine) && note !== undefined) return note;
  const open = `${ports.length === 1 ? "port" : "ports"} ${ports.map(({ port }) => port).join(", ")}`;
  return [note, open].filter((part) => part !== undefined).join(" · ");
}

function elasticCard({ name, min, max }: ElasticPool): Content {
  return { group: "elastic", lines: [name, `${min} to ${max} workers`, "auto scaling group"] };
}

/** Control planes and workers each begin a new row. */
function arrange(contents: readonly Content[], columns: number, cardWidth: number, origin: Point): readonly Card[] {
  let row = -1;
  let column = columns;
  let group: string | undefined;
  return contents.map((content) => {
    if (column === columns || content.group !== group) {
      row += 1;
      column = 0;
      group = content.group;
    }
    const box = {
      x: origin.x + column * (cardWidth + gap),
      y: origin.y + row * (cardHeight + gap),
      width: cardWidth,
      height: cardHeight,
    };
    column += 1;
    const { machine, lines } = content;
    const room = cardWidth - indentOf(machine) - 10;
    const shown = lines.map((line, at) => fitting(line, at, room));
    const whole = shown.some((line, at) => line !== lines[at]) ? lines.join("\n") : undefined;
    return {
      box,
      lines: shown,
      ...given({ machine, whole }),
    };
  });
}

function rowsOf(contents: readonly Content[], columns: number): number {
  const cards = arrange(contents, columns, leastCardWidth, { x: 0, y: 0 });
  return cards.length === 0 ? 0 : Math.max(...cards.map(({ box }) => box.y / (cardHeight + gap))) + 1;
}
