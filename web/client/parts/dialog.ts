// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import type { PlannedStep } from "../../shared/wire.ts";
import { html } from "../html.ts";
import { send } from "../server.ts";

export interface Action {
  readonly title: string;
  /** Where the plan is asked for, when there is one to show. */
  readonly planPath?: string;
  readonly path: string;
  /** What has to be typed before it may be done. */
  readonly confirm?: string;
}

interface DialogProps {
  readonly action: Action;
  readonly onClose: () => void;
}

/** Shows what an action will do, and does it only when told so. */
export function ActionDialog({ action, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const [steps, setSteps] = useState<readonly PlannedStep[] | undefined>(
    action.planPath === undefined ? [] : undefined,
  );
  const [typed, setTyped] = useState("");
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    element.current?.showModal();
    if (action.planPath === undefined) return;
    send<readonly PlannedStep[]>(action.planPath).then(setSteps, (error: Error) => setFault(error.message));
  }, [action]);
  const mayGo = steps !== undefined && (action.confirm === undefined || typed === action.confirm);
  const go = (event: Event) => {
    event.preventDefault();
    send(action.path, { confirm: typed }).then(onClose, (error: Error) => setFault(error.message));
  };
  return html`
    <dialog ref=${element} onClose=${onClose} aria-labelledby="dialog-title">
      <form onSubmit=${go}>
        <h2 id="dialog-title">${action.title}</h2>
        ${action.planPath !== undefined && html`<${Plan} steps=${steps} />`}
        ${
          action.confirm !== undefined &&
          html`<label>Type <strong>${action.confirm}</strong> to confirm
            <input value=${typed} autocomplete="off" onInput=${(event: InputEvent) => setTyped((event.target as HTMLInputElement).value)} />
          </label>`
        }
        ${fault !== undefined && html`<p role="alert" class="fault">${fault}</p>`}
        <p class="buttons">
          <button type="button" onClick=${() => element.current?.close()}>Cancel</button>
          <button type="submit" class=${action.confirm === undefined ? "main" : "danger"} disabled=${!mayGo}>${action.title}</button>
        </p>
      </form>
    </dialog>
  `;
}

function Plan({ steps }: { readonly steps: readonly PlannedStep[] | undefined }) {
  if (steps === undefined) return html`<p class="hint" aria-busy="true">Asking the machines …</p>`;
  return html`<${StepList} steps=${steps} />`;
}

export function StepList({ steps }: { readonly steps: readonly PlannedStep[] }) {
  if (steps.length === 0) return html`<p class="hint">Nothing to change.</p>`;
  return html`<ol class="steps">
    ${steps.map(({ id, sentence, destructive }) => html`<li key=${id} class=${destructive ? "destructive" : ""}>${sentence}${destructive && " (data is lost)"}</li>`)}
  </ol>`;
}
