// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import type { ClusterView, MachineDetail, MachineRow } from "../../shared/wire.ts";
import { html } from "../html.ts";
import { FieldInput } from "../parts/dialog.ts";
import { Differences } from "../parts/differences.ts";
import { Live } from "../parts/live.ts";
import { mark } from "../parts/mark.ts";
import { Offers } from "../parts/offers.ts";
import { useAnswer } from "../server.ts";
import { ClusterHead } from "./cluster.ts";

interface MachineProps {
  readonly cluster: ClusterView;
  readonly machine: string;
  readonly readOnly: boolean;
}

export function MachineScreen({ cluster, machine, readOnly }: MachineProps) {
  const row = cluster.machines.find(({ name }) => name === machine);
  const path = `/api/environments/${encodeURIComponent(cluster.environment)}/machines/${encodeURIComponent(machine)}`;
  const [detail, fault] = useAnswer<MachineDetail>(path, cluster.seenAt);
  return html`
    <${ClusterHead} cluster=${cluster} screen="machines" within />
    <h2>${machine} ${row !== undefined && mark(row.health)}${row?.cordoned && " cordoned"}</h2>
    ${row !== undefined && html`<${Offers} environment=${cluster.environment} machine=${machine} readOnly=${readOnly} offers=${offersOf(row)} />`}
    ${fault !== undefined && html`<p class="fault" role="alert">${fault}</p>`}
    ${detail?.problem != null && html`<p class="fault">${detail.problem}</p>`}
    ${row !== undefined && facts(row, detail)}
    ${detail === undefined && fault === undefined && html`<p class="hint" aria-busy="true">Asking the machine …</p>`}
    ${detail !== undefined && detail.problem === null && html`<${Details} detail=${detail} path=${path} />`}
  `;
}

function offersOf({ name, cordoned }: MachineRow) {
  const offer = (label: string, kind: "reboot" | "cordon" | "uncordon" | "drain") => ({
    label,
    action: () => ({ kind, machine: name }),
  });
  return [
    offer("Reboot", "reboot"),
    cordoned ? offer("Uncordon", "uncordon") : offer("Cordon", "cordon"),
    offer("Drain", "drain"),
  ];
}

function facts(row: MachineRow, detail: MachineDetail | undefined) {
  const shown: readonly (readonly [string, unknown])[] = [
    ["role", row.role === "controlplane" ? "control plane" : "worker"],
    ["stage", row.stage],
    ["Talos", row.talosVersion ?? "–"],
    ["kubelet", row.kubeletVersion ?? "–"],
    ["schematic", detail?.schematic ?? "–"],
    ["etcd", row.etcd ?? "–"],
    ["addresses", detail?.addresses.join(", ") || (row.address ?? "–")],
    [
      "disks",
      detail?.disks.map(({ name, size, model }) => [name, size, model].filter(Boolean).join(" ")).join(", ") || "–",
    ],
  ];
  return html`<dl class="facts">${shown.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function Details({ detail, path }: { readonly detail: MachineDetail; readonly path: string }) {
  const { services, changes, moved, config } = detail;
  const [service, setService] = useState("kubelet");
  return html`
    <h3>Services</h3>
    <ul class="services">
      ${services.map(
        ({ name, state, healthy }) =>
          html`<li key=${name}><strong>${name}</strong> <span class="hint">${state}</span> ${healthy !== null && mark(healthy ? "healthy" : "unhealthy")}</li>`,
      )}
    </ul>
    <h3>Differences from the desired config</h3>
    ${
      changes.length === 0 && moved === null
        ? html`<p class="hint">None.</p>`
        : html`<${Differences} label="Differences" changes=${changes} moved=${moved} />`
    }
    <h3>Logs</h3>
    <${FieldInput} field=${{ name: "service", label: "Service", value: service, options: services.map(({ name }) => name) }} value=${service} onValue=${setService} />
    <${Live} label=${`Log of ${service}`} path=${`${path}/logs/${encodeURIComponent(service)}`} />
    <h3>Events</h3>
    <${Live} label="Events" path=${`${path}/events`} />
    ${
      config !== null &&
      html`<details><summary>Active config, secrets replaced</summary><pre class="config" tabindex="0" role="region" aria-label="Active config">${config}</pre></details>`
    }
  `;
}
