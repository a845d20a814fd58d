// SPDX-License-Identifier: Apache-2.0
import type { ClusterView, OperationView } from "../../shared/wire.ts";
import { html } from "../html.ts";
import { AtWork } from "../parts/at-work.ts";
import { mark } from "../parts/mark.ts";
import { Offers } from "../parts/offers.ts";
import { Table } from "../parts/table.ts";
import { type ClusterScreen, clusterScreens, linkTo } from "../route.ts";
import { ChangesScreen } from "./changes.ts";
import { EtcdScreen } from "./etcd.ts";
import { TopologyScreen } from "./topology.ts";

interface ClusterProps {
  readonly cluster: ClusterView;
  readonly screen: ClusterScreen;
  readonly operations: readonly OperationView[];
  readonly readOnly: boolean;
  readonly program: string;
  readonly now: number;
}

export function ClusterScreenView(props: ClusterProps) {
  const { cluster, screen, readOnly, operations, now } = props;
  const running = operations.filter(
    ({ environment, endedAt }) => environment === cluster.environment && endedAt === null,
  );
  return html`
    <${ClusterHead} cluster=${cluster} screen=${screen} />
    <${Offers} environment=${cluster.environment} offers=${offersOf(cluster)} readOnly=${readOnly} obstacle=${cluster.obstacle} />
    ${running.length > 0 && html`<${AtWork} running=${running} now=${now} />`}
    ${cluster.note !== null && html`<p class=${cluster.state === "changing" ? "hint" : "fault"}>${cluster.note}</p>`}
    ${body(props)}
  `;
}

interface HeadProps {
  readonly cluster: ClusterView;
  readonly screen: ClusterScreen;
  /** On a page below this screen, not on it. */
  readonly within?: boolean;
}

export function ClusterHead({ cluster, screen, within = false }: HeadProps) {
  const { environment } = cluster;
  const here = within ? "true" : "page";
  return html`
    <h1>${environment} ${mark(cluster.state)}</h1>
    <nav aria-label=${environment}>
      ${clusterScreens.map(
        (name) =>
          html`<a key=${name} href=${linkTo({ screen: name, environment })} aria-current=${name === screen ? here : undefined}>${name}</a>`,
      )}
    </nav>
  `;
}

function body({ cluster, screen, operations, readOnly, program, now }: ClusterProps) {
  if (screen === "topology") return html`<${TopologyScreen} cluster=${cluster} />`;
  if (screen === "machines") return machines(cluster);
  if (screen === "changes") return html`<${ChangesScreen} cluster=${cluster} program=${program} />`;
  return html`<${EtcdScreen} cluster=${cluster} operations=${operations} readOnly=${readOnly} now=${now} />`;
}

function offersOf({ state, talosVersion, kubernetesVersion, pools }: ClusterView) {
  const apply = {
    label: "Apply",
    shaping: "apply" as const,
    tone: "main" as const,
    action: () => ({ kind: "apply" }) as const,
  };
  if (state === "not deployed") return [apply];
  const first = pools[0];
  const countOf = (pool: string | undefined) => String(pools.find(({ name }) => name === pool)?.count ?? 1);
  return [
    apply,
    {
      label: "Upgrade",
      shaping: "upgrade" as const,
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
      shaping: "scale" as const,
      fields: [
        { name: "pool", label: "Pool", value: first?.name ?? "", options: pools.map(({ name }) => name) },
        { name: "count", label: "Machines", value: countOf(first?.name), type: "number" as const },
      ],
      // A count that stayed from another pool would be taken for a wish.
      settle: (values: Readonly<Record<string, string>>, changed: string) =>
        changed === "pool" ? { ...values, count: countOf(values.pool) } : values,
      action: ({ pool = "", count }: Readonly<Record<string, string>>) =>
        ({ kind: "scale", pool, count: Number(count) }) as const,
    },
    {
      label: "Destroy",
      shaping: "destroy" as const,
      tone: "danger" as const,
      action: () => ({ kind: "destroy" }) as const,
    },
  ];
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
