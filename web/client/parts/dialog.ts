// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import type { Action, ActionPlan, OperationView, PlannedStep } from "../../shared/wire.ts";
import { html } from "../html.ts";
import { linkTo } from "../route.ts";
import { send } from "../server.ts";

/** Something to be told before there can be a plan. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly type?: "text" | "number";
  readonly options?: readonly string[];
  /** What stands for an option where its name says too little. */
  readonly words?: Readonly<Record<string, string>>;
}

/** An action as a button offers it. */
export interface Offer {
  readonly label: string;
  readonly fields?: readonly Field[];
  /** What the other fields become when one was changed. */
  readonly settle?: (values: Readonly<Record<string, string>>, changed: string) => Readonly<Record<string, string>>;
  readonly action: (values: Readonly<Record<string, string>>) => Action;
}

interface DialogProps {
  readonly offer: Offer;
  readonly environment: string;
  /** The machine that it is about. @default - the whole environment */
  readonly machine?: string;
  readonly onClose: () => void;
}

/** Asks what has to be known, shows what the action will do, and does it only when told so. */
export function ActionDialog({ offer, environment, machine, onClose }: DialogProps) {
  const title = `${offer.label} ${machine ?? environment}`;
  const { fields = [], settle = (values) => values, action } = offer;
  const path = `/api/environments/${encodeURIComponent(environment)}`;
  const element = useRef<HTMLDialogElement>(null);
  const [values, setValues] = useState<Readonly<Record<string, string>>>(initialValues(fields));
  const [asked, setAsked] = useState(fields.length === 0);
  const [plan, setPlan] = useState<ActionPlan>();
  const [typed, setTyped] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  useEffect(() => element.current?.showModal(), []);
  useEffect(() => {
    if (!asked) return;
    setFault(undefined);
    send<ActionPlan>(`${path}/plan`, { action: action(values) }).then(setPlan, (error: Error) => {
      setFault(error.message);
      if (fields.length > 0) setAsked(false);
    });
  }, [asked]);
  const mayGo = !asked || (!busy && plan !== undefined && (plan.confirm === null || typed === plan.confirm));
  const go = (event: Event) => {
    event.preventDefault();
    if (!asked) return setAsked(true);
    setBusy(true);
    send<OperationView>(`${path}/operations`, { action: action(values), confirm: typed, plan: plan?.id }).then(
      ({ id }) => {
        onClose();
        location.hash = linkTo({ screen: "operations", id });
      },
      (error: Error) => {
        setBusy(false);
        setFault(error.message);
      },
    );
  };
  return html`
    <dialog ref=${element} onClose=${onClose} aria-labelledby="dialog-title">
      <form onSubmit=${go}>
        <h2 id="dialog-title">${title}</h2>
        ${
          asked
            ? html`<${Plan} plan=${plan} faulty=${fault !== undefined} />`
            : fields.map(
                (field) =>
                  html`<${FieldInput} key=${field.name} field=${field} value=${values[field.name]} onValue=${(value: string) => setValues(settle({ ...values, [field.name]: value }, field.name))} />`,
              )
        }
        ${
          plan?.confirm != null &&
          html`<label>Data is lost. Type <strong>${plan.confirm}</strong> to confirm
            <input name="confirm" value=${typed} autocomplete="off" onInput=${(event: InputEvent) => setTyped((event.target as HTMLInputElement).value)} />
          </label>`
        }
        ${fault !== undefined && html`<p role="alert" class="fault">${fault}</p>`}
        <p class="buttons">
          <button type="button" onClick=${() => element.current?.close()}>Cancel</button>
          <button type="submit" class=${plan?.confirm == null ? "main" : "danger"} disabled=${!mayGo}>${asked ? title : "Show the plan"}</button>
        </p>
      </form>
    </dialog>
  `;
}

export const initialValues = (fields: readonly Field[]): Readonly<Record<string, string>> =>
  Object.fromEntries(fields.map(({ name, value }) => [name, value]));

interface FieldProps {
  readonly field: Field;
  readonly value: string | undefined;
  readonly onValue: (value: string) => void;
}

export function FieldInput({ field: { name, label, type = "text", options, words = {} }, value, onValue }: FieldProps) {
  const onInput = (event: InputEvent) => onValue((event.target as HTMLInputElement).value);
  if (options === undefined)
    return html`<label>${label}<input name=${name} type=${type} min="0" required value=${value} autocomplete="off" onInput=${onInput} /></label>`;
  return html`<label>${label}
    <select name=${name} value=${value} onInput=${onInput}>${options.map((option) => html`<option key=${option} value=${option}>${words[option] ?? option}</option>`)}</select>
  </label>`;
}

function Plan({ plan, faulty }: { readonly plan: ActionPlan | undefined; readonly faulty: boolean }) {
  if (plan === undefined) return faulty ? null : html`<p class="hint" aria-busy="true">Planning …</p>`;
  const { manager, findings, warnings, steps } = plan;
  return html`
    ${manager !== "talosmith" && html`<p>Planned by ${manager}: exactly this plan is applied.</p>`}
    ${findings.map(
      ({ level, title, sentence }) =>
        html`<p key=${sentence} class=${level === "danger" ? "fault" : "notice"}>${level === "danger" && html`<strong>DANGER</strong> `}${title}: ${sentence}</p>`,
    )}
    ${warnings.map((warning) => html`<p key=${warning} class="notice">${warning}</p>`)}
    <${StepList} steps=${steps} />
  `;
}

export function StepList({ steps }: { readonly steps: readonly PlannedStep[] }) {
  if (steps.length === 0) return html`<p class="hint">Nothing to change.</p>`;
  return html`<ol class="steps">
    ${steps.map(({ id, sentence, destructive }) => html`<li key=${id} class=${destructive ? "destructive" : ""}>${sentence}${destructive && " (data is lost)"}</li>`)}
  </ol>`;
}
