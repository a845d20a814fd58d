// SPDX-License-Identifier: Apache-2.0
import type { BackupsView, ClusterView, EtcdView, OperationView } from "../../shared/wire.ts";
import { age } from "../age.ts";
import { html } from "../html.ts";
import { mark } from "../parts/mark.ts";
import { Offers } from "../parts/offers.ts";
import { Table } from "../parts/table.ts";
import { linkTo } from "../route.ts";

interface EtcdProps {
  readonly cluster: ClusterView;
  readonly operations: readonly OperationView[];
  readonly readOnly: boolean;
  readonly now: number;
}

/** Members and quorum, and the snapshots that would bring them back. */
export function EtcdScreen({ cluster, operations, readOnly, now }: EtcdProps) {
  const { environment, etcd, backups } = cluster;
  const drill = operations.find((one) => one.kind === "drill" && one.environment === environment);
  return html`
    ${etcd === null ? html`<p class="hint">No etcd member answers.</p>` : members(etcd)}
    <h2>Backups</h2>
    ${
      backups === null
        ? html`<p class="hint">None are configured: add backup: { directory: backups/${environment} } to the environment's file.</p>`
        : html`
          <${Offers} environment=${environment} readOnly=${readOnly} offers=${offersOf(cluster, backups)} />
          ${snapshots(backups, now)}
        `
    }
    ${
      drill !== undefined &&
      html`<p>Last restore drill: ${mark(drill.state)} <a href=${linkTo({ screen: "operations", id: drill.id })}>${drill.subject}</a> ${drill.outcome ?? ""}</p>`
    }
  `;
}

function members({ members: rows, voters, healthy, quorum, spare }: EtcdView) {
  const verdict =
    spare < 0
      ? "etcd has lost its quorum and refuses writes."
      : spare === 0
        ? "One more failure stops etcd."
        : `${spare} more may fail.`;
  return html`
    <p>${healthy} of ${voters} voters are healthy, ${quorum} ${quorum === 1 ? "is" : "are"} needed. <strong class=${spare <= 0 && voters > 1 ? "fault" : ""}>${verdict}</strong></p>
    <${Table}
      label="Members"
      headings=${["member", "id", "role", "state"]}
      rows=${rows.map(({ id, name, leader, learner, healthy: well }) => [
        name,
        html`<code>${id}</code>`,
        leader ? "leader" : learner ? "learner" : "voter",
        mark(well ? "healthy" : "unhealthy"),
      ])}
    />
  `;
}

function offersOf({ state }: ClusterView, { backups }: BackupsView) {
  if (state === "not deployed") return [];
  const [newest] = backups;
  const backup = { label: "Back up", action: () => ({ kind: "backup" }) as const };
  if (newest === undefined) return [backup];
  const drill = {
    label: "Restore drill",
    fields: [{ name: "backup", label: "Backup", value: newest.id, options: backups.map(({ id }) => id) }],
    action: ({ backup: id = "" }: Readonly<Record<string, string>>) => ({ kind: "drill" as const, backup: id }),
  };
  return [backup, drill];
}

function snapshots({ place, backups, problem }: BackupsView, now: number) {
  return html`
    ${problem !== null && html`<p class="fault">${problem}</p>`}
    <p>In ${place}:</p>
    ${
      backups.length > 0 &&
      html`<${Table}
        label="Snapshots"
        headings=${["name", "age", "size", "revision", "hash", "secrets"]}
        rows=${backups.map(({ id, takenAt, bytes, revision, hash, pki }) => [
          id,
          age(takenAt, now),
          sizeInWords(bytes),
          String(revision),
          html`<code>${hash}</code>`,
          pki ? "encrypted, beside it" : "no",
        ])}
      />`
    }
  `;
}

function sizeInWords(bytes: number): string {
  const amount = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
  return bytes < 2 ** 20 ? `${amount.format(bytes / 2 ** 10)} KiB` : `${amount.format(bytes / 2 ** 20)} MiB`;
}
