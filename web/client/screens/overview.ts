// SPDX-License-Identifier: Apache-2.0
import type { BackupsView, ClusterView, Condition, HealthCheck, Overview } from "../../shared/wire.ts";
import { age } from "../age.ts";
import { html } from "../html.ts";
import { AtWork } from "../parts/at-work.ts";
import { mark, sign } from "../parts/mark.ts";
import { Table } from "../parts/table.ts";
import { linkTo } from "../route.ts";

const fewDays = 30;

export function OverviewScreen({ overview, now }: { readonly overview: Overview; readonly now: number }) {
  const { clusters, broken, unseen, operations, program } = overview;
  const isPlanned = ({ state }: ClusterView) => state === "not deployed";
  const planned = clusters.filter(isPlanned);
  const running = operations.filter(({ endedAt }) => endedAt === null);
  return html`
    <h1>Clusters</h1>
    ${unseen.length > 0 && html`<p class="hint" aria-busy="true">Looking at ${unseen.join(", ")} …</p>`}
    ${unseen.length === 0 && planned.length === clusters.length && html`<p class="hint">None is deployed yet.</p>`}
    <ul class="cards">
      ${clusters
        .filter((cluster) => !isPlanned(cluster))
        .map(
          (cluster) =>
            html`<${ClusterCard} key=${cluster.environment} cluster=${cluster} program=${program} now=${now} />`,
        )}
      ${broken.map(
        ({ environment, fault }) => html`<li class="card" key=${environment}>
          <h2>${environment}</h2>
          <pre class="fault" tabindex="0" role="region" aria-label=${`Faults of ${environment}`}>${fault}</pre>
        </li>`,
      )}
    </ul>
    <h2>At work</h2>
    ${running.length === 0 ? html`<p class="hint">Nothing is going on.</p>` : html`<${AtWork} running=${running} now=${now} />`}
    ${
      planned.length > 0 &&
      html`<h2>Not deployed</h2>
        <${Table}
          label="Not deployed"
          headings=${["environment", "kind", "Talos", "Kubernetes", "machines"]}
          rows=${planned.map(({ environment, kind, talosVersion, kubernetesVersion, pools }) => [
            html`<a href=${linkTo({ screen: "topology", environment })}>${environment}</a>`,
            kind,
            talosVersion,
            kubernetesVersion,
            String(pools.reduce((sum, { count }) => sum + count, 0)),
          ])}
        />`
    }
  `;
}

interface CardProps {
  readonly cluster: ClusterView;
  readonly program: string;
  readonly now: number;
}

function ClusterCard({ cluster, program, now }: CardProps) {
  const { environment, machines, certificates, backups, note, kind, talosVersion, kubernetesVersion } = cluster;
  const { conditions, checks, pending } = cluster;
  const ready = machines.filter(({ health }) => health === "ready").length;
  const others = (["starting", "maintenance", "unreachable"] as const)
    .map((health) => [health, machines.filter((machine) => machine.health === health).length] as const)
    .filter(([, count]) => count > 0);
  const ending = certificates.filter(({ daysLeft }) => daysLeft < fewDays);
  const good = conditions.filter(({ ok }) => ok);
  const bad = conditions.filter(({ ok }) => !ok);
  const failed = checks.filter(({ state }) => state === "failed");
  const unfailed = checks.filter(({ state }) => state !== "failed");
  const passed = checks.filter(({ state }) => state === "ok");
  const made = checks.filter(({ state }) => state !== "skipped");
  return html`
    <li class="card">
      <h2><a href=${linkTo({ screen: "topology", environment })}>${environment}</a> ${mark(cluster.state)}</h2>
      <p class="hint">${kind} · Talos ${talosVersion} · Kubernetes ${kubernetesVersion}</p>
      ${
        machines.length > 0 &&
        html`<p class="strip" aria-hidden="true">${machines.map(({ health }) => sign(health))}</p>
          <p>${ready} of ${machines.length} machines ready${others.map(
            ([health, count]) => html`, <span key=${health}>${count} ${sign(health)} ${health}</span>`,
          )}${
            pending.length > 0 &&
            html`, <a href=${linkTo({ screen: "changes", environment })}>${pending.length} ${pending.length === 1 ? "step" : "steps"} to do</a>`
          }</p>`
      }
      ${note !== null && html`<p class="fault">${note}</p>`}
      <${Conditions} conditions=${bad} now=${now} />
      ${
        conditions.length > 0 &&
        html`<details>
          <summary>${good.length} of ${conditions.length} conditions OK</summary>
          <${Conditions} conditions=${good} now=${now} />
        </details>`
      }
      ${
        checks.length > 0 &&
        html`<details>
          <summary>${passed.length} of ${made.length} health checks passed</summary>
          <${HealthChecks} checks=${[...failed, ...unfailed]} />
        </details>`
      }
      ${
        backups === null
          ? html`<p class="hint">No backups are configured.</p>`
          : html`<p class=${backups.problem === null ? "" : "fault"}>${backupLine(backups, now)}</p>`
      }
      ${ending.map(({ name, daysLeft }) => html`<p class="fault" key=${name}>${endOf(name, daysLeft)} A new one: <code>${program} ${name} ${environment} --force</code></p>`)}
    </li>
  `;
}

function Conditions({ conditions, now }: { readonly conditions: readonly Condition[]; readonly now: number }) {
  if (conditions.length === 0) return null;
  return html`<ul class="conditions">
    ${conditions.map(
      ({
        type,
        status,
        reason,
        message,
        lastTransitionTime,
        ok,
      }) => html`<li key=${type}>${mark(ok ? "ok" : status === "Unknown" ? "unknown" : "failed")}
        <span>${type} is ${status} <span class="hint">${reason} · ${age(lastTransitionTime, now)}</span><br /><span class=${ok ? "hint" : "fault"}>${message}</span></span>
      </li>`,
    )}
  </ul>`;
}

function HealthChecks({ checks }: { readonly checks: readonly HealthCheck[] }) {
  return html`<ul class="conditions">
    ${checks.map(
      ({ name, state, reason }) => html`<li key=${name}>${mark(state)}
        <span>${name}${reason !== null && html`<br /><span class="fault">${reason}</span>`}</span>
      </li>`,
    )}
  </ul>`;
}

function endOf(name: string, daysLeft: number): string {
  if (daysLeft < 0) return `The certificate in ${name} has ended.`;
  return `The certificate in ${name} ends ${daysLeft === 0 ? "today" : `in ${daysLeft} ${daysLeft === 1 ? "day" : "days"}`}.`;
}

function backupLine({ backups: [newest], problem }: BackupsView, now: number): string {
  if (newest === undefined) return `No backup: ${problem ?? "none was taken yet"}`;
  return `Last backup ${age(newest.takenAt, now)} ago${problem === null ? "" : `: ${problem}`}`;
}
