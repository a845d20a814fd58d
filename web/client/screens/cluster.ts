// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import type { ClusterView } from "../../shared/wire.ts";
import { html } from "../html.ts";
import { type Action, ActionDialog, StepList } from "../parts/dialog.ts";
import { mark } from "../parts/mark.ts";
import { type ClusterScreen, clusterScreens, linkTo } from "../route.ts";

interface ClusterProps {
  readonly cluster: ClusterView;
  readonly screen: ClusterScreen;
  readonly readOnly: boolean;
}

const bodies: Readonly<Record<ClusterScreen, (cluster: ClusterView) => unknown>> = {
  topology: topology,
  machines: machines,
  etcd: etcd,
  changes: ({ pending }) => html`<p>What an apply would do now, in order:</p><${StepList} steps=${pending} />`,
};

export function ClusterScreenView({ cluster, screen, readOnly }: ClusterProps) {
  const [action, setAction] = useState<Action>();
  const { environment } = cluster;
  const path = `/api/environments/${encodeURIComponent(environment)}`;
  const apply = { title: `Apply ${environment}`, planPath: `${path}/plan`, path: `${path}/apply` };
  const destroy = { title: `Destroy ${environment}`, path: `${path}/destroy`, confirm: cluster.cluster };
  return html`
    <h1>${environment} ${mark(cluster.state)}</h1>
    <nav aria-label=${environment}>
      ${clusterScreens.map(
        (name) =>
          html`<a key=${name} href=${linkTo({ screen: name, environment })} aria-current=${name === screen ? "page" : undefined}>${name}</a>`,
      )}
    </nav>
    ${
      !readOnly &&
      html`<p class="buttons">
        <button type="button" class="main" onClick=${() => setAction(apply)}>Apply …</button>
        ${cluster.state !== "not deployed" && html`<button type="button" class="danger" onClick=${() => setAction(destroy)}>Destroy …</button>`}
      </p>`
    }
    ${bodies[screen](cluster)}
    ${action !== undefined && html`<${ActionDialog} action=${action} onClose=${() => setAction(undefined)} />`}
  `;
}

function topology({ environment, cluster, seenAt }: ClusterView) {
  // The time makes the browser ask again when something new was seen.
  const source = `/api/environments/${encodeURIComponent(environment)}/topology.svg?seen=${seenAt ?? ""}`;
  return html`<p><img class="topology" src=${source} alt=${`Topology of ${cluster}; the screen "machines" tells the same in words`} /></p>`;
}

function machines({ environment, machines: rows }: ClusterView) {
  if (rows.length === 0) return html`<p class="hint">There are no machines yet.</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Machines"><table>
    <thead><tr>${["name", "state", "stage", "role", "address", "Talos", "kubelet", "etcd"].map((heading) => html`<th key=${heading} scope="col">${heading}</th>`)}</tr></thead>
    <tbody>
      ${rows.map(
        (row) => html`<tr key=${row.name}>
          <th scope="row"><a href=${linkTo({ screen: "machine", environment, machine: row.name })}>${row.name}</a></th>
          <td>${mark(row.health)}${row.cordoned && " cordoned"}</td>
          <td>${row.stage}</td>
          <td>${row.role === "controlplane" ? "control plane" : "worker"}</td>
          <td>${row.address ?? "–"}</td>
          <td>${row.talosVersion ?? "–"}</td>
          <td>${row.kubeletVersion ?? "–"}</td>
          <td>${row.etcd ?? "–"}</td>
        </tr>`,
      )}
    </tbody>
  </table></div>`;
}

function etcd({ etcd: view }: ClusterView) {
  if (view === null) return html`<p class="hint">No etcd member answers.</p>`;
  const { members, voters, healthy, quorum, spare } = view;
  const verdict =
    spare < 0
      ? "etcd has lost its quorum and refuses writes."
      : spare === 0
        ? "One more failure stops etcd."
        : `${spare} more may fail.`;
  return html`
    <p>${healthy} of ${voters} voters are healthy, ${quorum} are needed. <strong class=${spare <= 0 && voters > 1 ? "fault" : ""}>${verdict}</strong></p>
    <table>
      <thead><tr>${["member", "id", "role", "state"].map((heading) => html`<th key=${heading} scope="col">${heading}</th>`)}</tr></thead>
      <tbody>
        ${members.map(
          ({ id, name, leader, learner, healthy: well }) => html`<tr key=${id}>
            <th scope="row">${name}</th>
            <td><code>${id}</code></td>
            <td>${leader ? "leader" : learner ? "learner" : "voter"}</td>
            <td>${mark(well ? "healthy" : "unhealthy")}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  `;
}
