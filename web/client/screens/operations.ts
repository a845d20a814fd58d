// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import type { OperationEvent, OperationView } from "../../shared/wire.ts";
import { age } from "../age.ts";
import { html } from "../html.ts";
import { mark } from "../parts/mark.ts";
import { linkTo } from "../route.ts";
import { send } from "../server.ts";

interface OperationsProps {
  readonly operations: readonly OperationView[];
  readonly chosen: string | undefined;
  readonly readOnly: boolean;
  readonly now: number;
}

export function OperationsScreen({ operations, chosen, readOnly, now }: OperationsProps) {
  // One that was just begun may not have been told yet; another in its place would mislead.
  const shown = chosen === undefined ? operations[0] : operations.find(({ id }) => id === chosen);
  if (shown === undefined) {
    const hint =
      chosen === undefined ? "None since this page's server was started." : `Waiting for operation ${chosen} …`;
    return html`<h1>Operations</h1><p class="hint">${hint}</p>`;
  }
  return html`
    <h1>Operations</h1>
    <nav aria-label="Operations">
      ${operations.map(
        ({
          id,
          kind,
          environment,
          subject,
          state,
        }) => html`<a key=${id} href=${linkTo({ screen: "operations", id })} aria-current=${id === shown.id ? "page" : undefined}>
          ${kind} ${environment} ${subject ?? ""} ${mark(state)}
        </a>`,
      )}
    </nav>
    <${Timeline} key=${shown.id} operation=${shown} readOnly=${readOnly} now=${now} />
  `;
}

function Timeline({
  operation,
  readOnly,
  now,
}: {
  readonly operation: OperationView;
  readonly readOnly: boolean;
  readonly now: number;
}) {
  const { id, state, steps, events, startedAt, endedAt, outcome } = operation;
  const [fault, setFault] = useState<string>();
  const tell = (error: Error) => setFault(error.message);
  const resume = () =>
    send<OperationView>(`/api/operations/${id}/resume`).then((begun) => {
      location.hash = linkTo({ screen: "operations", id: begun.id });
    }, tell);
  return html`
    <p>${mark(state)} ${endedAt === null ? `for ${age(startedAt, now)}` : `took ${age(startedAt, Date.parse(endedAt))}`}</p>
    ${outcome !== null && html`<p class=${state === "done" ? "" : "fault"} role="status">${outcome}</p>`}
    ${fault !== undefined && html`<p class="fault" role="alert">${fault}</p>`}
    ${
      (state === "stopped" || state === "failed") &&
      !readOnly &&
      html`<p class="buttons"><button type="button" class="main" onClick=${resume}>Resume</button></p>`
    }
    ${
      endedAt === null &&
      !readOnly &&
      html`<p class="buttons"><button type="button" disabled=${state === "stopping"} onClick=${() => send(`/api/operations/${id}/stop`).catch(tell)}>Stop at the next safe point</button></p>`
    }
    <ol class="steps">${steps.map((step) => html`<li key=${step.id}>${mark(step.state)} ${step.sentence}</li>`)}</ol>
    <h2>What happened</h2>
    <ol class="events" aria-live="polite" tabindex="0">
      ${events.map(
        (event, index) =>
          html`<li key=${index} class=${event.type === "step-failed" || event.type === "warning" ? "fault" : ""}>
            <time datetime=${event.at}>${event.at.slice(11, 19)}</time> ${sentenceOf(event)}
          </li>`,
      )}
    </ol>
  `;
}

/** Beginning and end of a step have the same words; a machine that waits does not always name itself. */
function sentenceOf({ type, message, machine }: OperationEvent): string {
  const about = machine === null || message.includes(machine) ? "" : `${machine}: `;
  const end = type === "step-finished" ? "done: " : type === "step-failed" ? "failed: " : "";
  return `${end}${about}${message}`;
}
