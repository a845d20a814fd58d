// SPDX-License-Identifier: Apache-2.0
import type { ClusterView, MachineDetail, MachineRow } from "../../web/server/index.ts";
import { conditionLines } from "../output/condition-lines.ts";
import { pendingLines } from "../output/pending-lines.ts";
import { tableOf } from "../output/table.ts";

/** What the dashboard knows: the cluster as last seen, and the open machine when it has been asked. */
export interface Seen {
  readonly cluster: ClusterView;
  readonly machine?: MachineDetail;
}

const keys = "up/down choose   enter details   q quit";
const keysInside = "left back   up/down choose   q quit";

interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The whole screen as lines, cut to the size of the terminal. */
export function screen(seen: Seen, state: DashboardState, size: Size, now: Date): readonly string[] {
  const head = heading(seen.cluster);
  const room = Math.max(1, size.rows - head.length - 2);
  const body = state.open ? machineLines(seen, state) : clusterLines(seen.cluster, state, room, now);
  return fitted([...head, "", ...body], state.open ? keysInside : keys, size);
}

/** The screen while there is no cluster to show, such as the faults of its file. */
export function notice(lines: readonly string[], size: Size): readonly string[] {
  return fitted(lines, "q quit", size);
}

function fitted(lines: readonly string[], footer: string, { columns, rows }: Size): readonly string[] {
  const shown = lines.slice(0, rows - 1);
  const filled = [...shown, ...Array<string>(Math.max(0, rows - 1 - shown.length)).fill("")];
  return [...filled, footer].map((line) => line.slice(0, columns));
}

/** The same without a terminal: everything, once. */
export function plainDashboard(cluster: ClusterView, now: Date): string {
  const lines = [...heading(cluster), "", ...machineTable(cluster.machines), ...around(cluster, now)];
  return `${lines.join("\n")}\n`;
}

function heading(cluster: ClusterView): readonly string[] {
  const { environment, kind, talosVersion, kubernetesVersion, endpoint, state, note, etcd } = cluster;
  const versions = [`Talos ${talosVersion}`, `Kubernetes ${kubernetesVersion}`];
  const first = [`${environment}: ${state}`, kind, ...versions, endpoint ?? []].flat().join("   ");
  const members =
    etcd === null
      ? "etcd: no member answers"
      : `etcd: ${etcd.healthy} of ${etcd.voters} healthy, quorum ${etcd.quorum}, ${spareWords(etcd.spare)}`;
  if (state === "not deployed") return [first, `Deploy it: talosmith deploy ${environment}`];
  return note === null ? [first, members] : [first, members, note];
}

const spareWords = (spare: number) => (spare < 0 ? "it has stopped" : `${spare} more may fail`);

function clusterLines(cluster: ClusterView, state: DashboardState, room: number, now: Date): readonly string[] {
  const [head = "", ...rows] = machineTable(cluster.machines);
  const rest = around(cluster, now);
  const shown = Math.max(1, Math.min(rows.length, room - 1 - Math.min(rest.length, Math.floor(room / 2))));
  // The chosen row stays on the screen.
  const first = Math.min(Math.max(0, state.chosen - shown + 1), Math.max(0, rows.length - shown));
  const window = rows.map((row, index) => `${index === state.chosen ? ">" : " "} ${row}`).slice(first, first + shown);
  return [`  ${head}`, ...window, ...rest];
}

function machineTable(machines: readonly MachineRow[]): readonly string[] {
  if (machines.length === 0) return [];
  const rows = machines.map(({ health, cordoned, talosVersion: talos, kubeletVersion: kubelet, ...machine }) => {
    return { ...machine, state: cordoned ? `${health}, cordoned` : health, talos, kubelet };
  });
  const columns = ["name", "role", "address", "state", "stage", "talos", "kubelet", "etcd"] as const;
  return tableOf(columns, rows).trimEnd().split("\n");
}

/** Conditions, steps that are pending, certificates, backups. */
function around({ conditions, pending, machines, certificates, backups }: ClusterView, now: Date): readonly string[] {
  return [
    "",
    ...conditionLines(conditions, now),
    ...pendingLines(pending, machines),
    ...certificates.map(({ name, daysLeft }) => `${name}: ${daysLeft} days left`),
    backups === null ? [] : (backups.problem ?? `newest backup: ${backups.backups[0]?.takenAt ?? "none"}`),
  ].flat();
}

function machineLines({ cluster, machine }: Seen, state: DashboardState): readonly string[] {
  const row = cluster.machines[state.chosen];
  if (row === undefined) return [];
  const title = `${row.name}   ${row.role}   ${row.address ?? "-"}   ${row.stage}`;
  if (machine?.name !== row.name) return [title, "", "asking it …"];
  if (machine.problem !== null) return [title, "", machine.problem];
  const services = machine.services.map(({ name, ...rest }) => ({ service: name, ...rest }));
  return [
    title,
    `addresses: ${machine.addresses.join(", ")}`,
    `disks: ${machine.disks.map(({ name, size }) => `${name} ${size}`).join(", ")}`,
    `schematic: ${machine.schematic ?? "none"}`,
    machine.changes.length === 0 ? [] : `${machine.changes.length} fields differ from the environment`,
    "",
    ...tableOf(["service", "state", "healthy"], services).trimEnd().split("\n"),
  ].flat();
}

/** Where the person is: which machine is chosen, and whether its own screen is open. */
export interface DashboardState {
  readonly chosen: number;
  readonly open: boolean;
  readonly ended: boolean;
}

export const firstState: DashboardState = { chosen: 0, open: false, ended: false };

/** What a key, as a terminal sends it, does. `machines` is how many there are to choose from. */
export function afterKey(state: DashboardState, key: string, machines: number): DashboardState {
  const last = Math.max(0, machines - 1);
  const choose = (chosen: number) => ({ ...state, chosen: Math.min(last, Math.max(0, chosen)) });
  switch (key) {
    case "q":
    case "\u0003":
      return { ...state, ended: true };
    case "\u001b[A":
    case "k":
      return choose(state.chosen - 1);
    case "\u001b[B":
    case "j":
      return choose(state.chosen + 1);
    case "\u001b[H":
      return choose(0);
    case "\u001b[F":
      return choose(last);
    case "\r":
    case "\u001b[C":
      return { ...state, open: machines > 0 };
    case "\u001b":
    case "\u001b[D":
      return { ...state, open: false };
    default:
      return state;
  }
}
