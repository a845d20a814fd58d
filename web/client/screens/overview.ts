// SPDX-License-Identifier: Apache-2.0
import type { BackupsView, ClusterView, Condition, Overview } from "../../shared/wire.ts";
import { age } from "../age.ts";
import { html } from "../html.ts";
import { mark } from "../parts/mark.ts";
import { linkTo } from "../route.ts";

const fewDays = 30;

export function OverviewScreen({ overview, now }: { readonly overview: Overview; readonly now: number }) {
  const { clusters, broken, operations, program } = overview;
  const isPlanned = ({ state }: ClusterView) => state === "not deployed";
  const shown = [...clusters.filter((cluster) => !isPlanned(cluster)), ...clusters.filter(isPlanned)];
  const running = operations.filter(({ endedAt }) => endedAt === null);
  return html`
    <h1>Clusters</h1>
    <ul class="cards">
      ${shown.map((cluster) => html`<${ClusterCard} key=${cluster.environment} cluster=${cluster} program=${program} now=${now} />`)}
      ${broken.map(
        ({ environment, fault }) => html`<li class="card" key=${environment}>
          <h2>${environment}</h2>
          <pre class="fault" tabindex="0" role="region" aria-label=${`Faults of ${environment}`}>${fault}</pre>
        </li>`,
      )}
    </ul>
    <h2>At work</h2>
    ${
      running.length === 0
        ? html`<p class="hint">Nothing is going on.</p>`
        : html`<ul>${running.map(
            (operation) => html`<li key=${operation.id}>
              <a href=${linkTo({ screen: "operations", id: operation.id })}>${[operation.kind, operation.environment, operation.subject].filter(Boolean).join(" ")}</a>
              ${" "}for ${age(operation.startedAt, now)}: ${operation.events.at(-1)?.message ?? "begins"}
            </li>`,
          )}</ul>`
    }
  `;
}

interface CardProps {
  readonly cluster: ClusterView;
  readonly program: string;
  readonly now: number;
}

function ClusterCard({ cluster, program, now }: CardProps) {
  const { environment, machines, conditions, certificates, backups, note, kind, talosVersion, kubernetesVersion } =
    cluster;
  const { pending } = cluster;
  const ready = machines.filter(({ health }) => health === "ready").length;
  const ending = certificates.filter(({ daysLeft }) => daysLeft < fewDays);
  const isUnmet = ({ state }: Condition) => state === "failed" || state === "waiting";
  const unmet = conditions.filter(isUnmet);
  const met = conditions.filter((condition) => !isUnmet(condition));
  return html`
    <li class="card">
      <h2><a href=${linkTo({ screen: "topology", environment })}>${environment}</a> ${mark(cluster.state)}</h2>
      <p>${kind} · Talos ${talosVersion} · Kubernetes ${kubernetesVersion}</p>
      ${machines.length > 0 && html`<p>${ready} of ${machines.length} machines ready${pending.length > 0 && `, ${pending.length} steps to do`}</p>`}
      ${note !== null && html`<p class="fault">${note}</p>`}
      ${
        conditions.length > 0 &&
        html`<details open=${unmet.length > 0}>
          <summary>${met.length} of ${conditions.length} conditions met</summary>
          <ul class="conditions">
            ${[...unmet, ...met].map(
              ({ name, state, reason, since }) => html`<li key=${name}>${mark(state)}
                <span>${name} <span class="hint">${age(since, now)}</span>${reason !== null && html`<br /><span class="fault">${reason}</span>`}</span>
              </li>`,
            )}
          </ul>
        </details>`
      }
      ${backups !== null && cluster.state !== "not deployed" && html`<p class=${backups.problem === null ? "" : "fault"}>${backupLine(backups, now)}</p>`}
      ${ending.map(({ name, daysLeft }) => html`<p class="fault" key=${name}>${endOf(name, daysLeft)} A new one: <code>${program} ${name} ${environment}</code></p>`)}
    </li>
  `;
}

function endOf(name: string, daysLeft: number): string {
  if (daysLeft < 0) return `The certificate in ${name} has ended.`;
  return `The certificate in ${name} ends ${daysLeft === 0 ? "today" : `in ${daysLeft} ${daysLeft === 1 ? "day" : "days"}`}.`;
}

function backupLine({ backups: [newest], problem }: BackupsView, now: number): string {
  if (newest === undefined) return `No backup: ${problem ?? "none was taken yet"}`;
  return `Last backup ${age(newest.takenAt, now)} ago${problem === null ? "" : `: ${problem}`}`;
}
