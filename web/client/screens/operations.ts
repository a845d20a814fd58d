// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
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
    <div class="operations">
    <nav aria-label="Operations">
      ${operations.map(
        ({
          id,
          kind,
          environment,
          subject,
          state,
        }) => html`<a key=${id} href=${linkTo({ screen: "operations", id })} aria-current=${id === shown.id ? "page" : undefined}>
          <span>${kind} ${environment} ${subject ?? ""}</span> ${mark(state)}
        </a>`,
      )}
    </nav>
    <div><${Timeline} key=${shown.id} operation=${shown} readOnly=${readOnly} now=${now} /></div>
    </div>
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
  const { id, kind, state, steps, events, startedAt, endedAt, outcome } = operation;
  const isElsewhere = kind.startsWith("terraform ");
  const [fault, setFault] = useState<string>();
  const tell = (error: Error) => setFault(error.message);
  const resume = () =>
    send<OperationView>(`/api/operations/${id}/resume`).then((begun) => {
      location.hash = linkTo({ screen: "operations", id: begun.id });
    }, tell);
  return html`
    <p class="state">${mark(state)} ${endedAt === null ? `for ${age(startedAt, now)}` : `took ${age(startedAt, Date.parse(endedAt))}`}</p>
    ${outcome !== null && html`<p class=${state === "done" || state === "ended" ? "" : "fault"} role="status">${outcome}</p>`}
    ${fault !== undefined && html`<p class="fault" role="alert">${fault}</p>`}
    ${
      (state === "stopped" || state === "failed") &&
      !isElsewhere &&
      !readOnly &&
      html`<p class="buttons"><button type="button" class="main" onClick=${resume}>Resume</button></p>`
    }
    ${
      endedAt === null &&
      isElsewhere &&
      html`<p class="hint">Started elsewhere: it is stopped with Ctrl-C there, and goes on when it is started again.</p>`
    }
    ${
      endedAt === null &&
      !isElsewhere &&
      !readOnly &&
      html`<p class="buttons"><button type="button" disabled=${state === "stopping"} onClick=${() => send(`/api/operations/${id}/stop`).catch(tell)}>Stop at the next safe point</button></p>`
    }
    <${Steps} steps=${steps} />
    <h2>What happened, newest first</h2>
    <ol class="events" aria-live="polite" tabindex="0">
      ${[...events].reverse().map(
        (event, index) =>
          html`<li key=${events.length - index} class=${event.type === "step-failed" || event.type === "warning" ? "fault" : ""}>
            <time datetime=${event.at}>${event.at.slice(11, 19)}</time> ${sentenceOf(event)}
          </li>`,
      )}
    </ol>
  `;
}

/** All steps with how far they have come; a long list shows the part that is at work. */
function Steps({ steps }: Pick<OperationView, "steps">) {
  const list = useRef<HTMLOListElement>(null);
  const done = steps.filter(({ state }) => state === "done").length;
  const current = steps.findIndex(({ state }) => state !== "done");
  useEffect(() => {
    const item = list.current?.children[current];
    if (item instanceof HTMLElement) list.current?.scrollTo(0, item.offsetTop - 100);
  }, [current]);
  if (steps.length === 0) return null;
  return html`
    <p class="progress"><progress aria-label="Steps done" max=${steps.length} value=${done}></progress> ${done} of ${steps.length} steps done</p>
    <ol ref=${list} class="steps timeline" tabindex="0" aria-label="Steps">
      ${steps.map((step) => html`<li key=${step.id}>${mark(step.state)} ${step.sentence}</li>`)}
    </ol>
  `;
}

/** Beginning and end of a step have the same words; a machine that waits does not always name itself. */
function sentenceOf({ type, message, machine }: OperationEvent): string {
  const about = machine === null || message.includes(machine) ? "" : `${machine}: `;
  const end = type === "step-finished" ? "done: " : type === "step-failed" ? "failed: " : "";
  return `${end}${about}${message}`;
}
