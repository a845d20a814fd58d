// SPDX-License-Identifier: Apache-2.0
import type { ClusterView, OperationView } from "../../shared/wire.ts";
import { html } from "../html.ts";
import { StepList } from "../parts/dialog.ts";
import { mark } from "../parts/mark.ts";
import { Offers } from "../parts/offers.ts";
import { Table } from "../parts/table.ts";
import { type ClusterScreen, clusterScreens, linkTo } from "../route.ts";
import { EtcdScreen } from "./etcd.ts";

interface ClusterProps {
  readonly cluster: ClusterView;
  readonly screen: ClusterScreen;
  readonly operations: readonly OperationView[];
  readonly readOnly: boolean;
  readonly now: number;
}

export function ClusterScreenView(props: ClusterProps) {
  const { cluster, screen, readOnly } = props;
  return html`
    <${ClusterHead} cluster=${cluster} screen=${screen} />
    <${Offers} offers=${offersOf(cluster)} readOnly=${readOnly} />
    ${cluster.note !== null && html`<p class="fault">${cluster.note}</p>`}
    ${body(props)}
  `;
}

export function ClusterHead({ cluster, screen }: { readonly cluster: ClusterView; readonly screen?: ClusterScreen }) {
  const { environment } = cluster;
  return html`
    <h1>${environment} ${mark(cluster.state)}</h1>
    <nav aria-label=${environment}>
      ${clusterScreens.map(
        (name) =>
          html`<a key=${name} href=${linkTo({ screen: name, environment })} aria-current=${name === screen ? "page" : undefined}>${name}</a>`,
      )}
    </nav>
  `;
}

function body({ cluster, screen, operations, readOnly, now }: ClusterProps) {
  if (screen === "topology") return topology(cluster);
  if (screen === "machines") return machines(cluster);
  if (screen === "changes")
    return html`<p>What an apply would do now, in order:</p><${StepList} steps=${cluster.pending} />`;
  return html`<${EtcdScreen} cluster=${cluster} operations=${operations} readOnly=${readOnly} now=${now} />`;
}

function offersOf({ environment, state, talosVersion, kubernetesVersion, pools }: ClusterView) {
  const apply = {
    label: "Apply",
    tone: "main" as const,
    title: `Apply ${environment}`,
    environment,
    action: () => ({ kind: "apply" }) as const,
  };
  if (state === "not deployed") return [apply];
  const first = pools[0];
  return [
    apply,
    {
      label: "Upgrade",
      title: `Upgrade ${environment}`,
      environment,
      fields: [
        { name: "talosVersion", label: "Talos", value: talosVersion },
        { name: "kubernetesVersion", label: "Kubernetes", value: kubernetesVersion },
      ],
      action: (values: Readonly<Record<string, string>>) => ({
        kind: "upgrade" as const,
        ...(values.talosVersion && values.talosVersion !== talosVersion && { talosVersion: values.talosVersion }),
        ...(values.kubernetesVersion &&
          values.kubernetesVersion !== kubernetesVersion && { kubernetesVersion: values.kubernetesVersion }),
      }),
    },
    {
      label: "Scale",
      title: `Scale ${environment}`,
      environment,
      fields: [
        { name: "pool", label: "Pool", value: first?.name ?? "", options: pools.map(({ name }) => name) },
        { name: "count", label: "Machines", value: String(first?.count ?? 1), type: "number" as const },
      ],
      action: ({ pool = "", count }: Readonly<Record<string, string>>) => ({
        kind: "scale" as const,
        pool,
        count: Number(count),
      }),
    },
    {
      label: "Destroy",
      tone: "danger" as const,
      title: `Destroy ${environment}`,
      environment,
      action: () => ({ kind: "destroy" }) as const,
    },
  ];
}

function topology({ environment, cluster, seenAt }: ClusterView) {
  // The time makes the browser ask again when something new was seen.
  const source = `/api/environments/${encodeURIComponent(environment)}/topology.svg?seen=${seenAt ?? ""}`;
  return html`<p><img class="topology" src=${source} alt=${`Topology of ${cluster}; the screen "machines" tells the same in words`} /></p>`;
}

function machines({ environment, machines: rows }: ClusterView) {
  if (rows.length === 0) return html`<p class="hint">There are no machines yet.</p>`;
  return html`<${Table}
    label="Machines"
    headings=${["name", "state", "stage", "role", "address", "Talos", "kubelet", "etcd"]}
    rows=${rows.map((row) => [
      html`<a href=${linkTo({ screen: "machine", environment, machine: row.name })}>${row.name}</a>`,
      html`${mark(row.health)}${row.cordoned && " cordoned"}`,
      row.stage,
      row.role === "controlplane" ? "control plane" : "worker",
      row.address ?? "–",
      row.talosVersion ?? "–",
      row.kubeletVersion ?? "–",
      row.etcd ?? "–",
    ])}
  />`;
}
