// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import type { ClusterView, Disturbance, OperationView, Overview, SimulatedRow } from "../../shared/wire.ts";
import { faultWords } from "../fault-words.ts";
import { html } from "../html.ts";
import { FieldInput, initialValues } from "../parts/dialog.ts";
import { mark } from "../parts/mark.ts";
import { Table } from "../parts/table.ts";
import { linkTo } from "../route.ts";
import { send } from "../server.ts";

/** A board to break things on: clusters of simulated machines, their power and their faults. */
export function SimulatorScreen({ overview }: { readonly overview: Overview }) {
  const { clusters, faults, readOnly } = overview;
  return html`
    <h1>Simulator</h1>
    ${!readOnly && html`<${NewClusterForm} />`}
    ${clusters.map(
      (cluster) =>
        cluster.simulated !== null &&
        html`<${Board} key=${cluster.environment} cluster=${cluster} rows=${cluster.simulated} faults=${faults} readOnly=${readOnly} />`,
    )}
  `;
}

const fields = [
  { name: "name", label: "Name", value: "" },
  { name: "controlPlanes", label: "Control planes", value: "3", type: "number" as const },
  { name: "workers", label: "Workers", value: "1", type: "number" as const },
];

function NewClusterForm() {
  const [values, setValues] = useState<Readonly<Record<string, string>>>(initialValues(fields));
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const create = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFault(undefined);
    const { name = "", controlPlanes, workers } = values;
    try {
      await send("/api/environments", { name, controlPlanes: Number(controlPlanes), workers: Number(workers) });
      const path = `/api/environments/${encodeURIComponent(name)}/operations`;
      const { id } = await send<OperationView>(path, { action: { kind: "apply" } });
      location.hash = linkTo({ screen: "operations", id });
    } catch (error) {
      setBusy(false);
      setFault((error as Error).message);
    }
  };
  return html`<h2 id="new-cluster">New cluster</h2><form class="row" onSubmit=${create} aria-labelledby="new-cluster">
    ${fields.map(
      (field) =>
        html`<${FieldInput} key=${field.name} field=${field} value=${values[field.name]} onValue=${(value: string) => setValues({ ...values, [field.name]: value })} />`,
    )}
    <button type="submit" class="main" disabled=${busy}>Create and deploy</button>
    ${busy && html`<p class="hint" aria-busy="true">Planning …</p>`}
    ${fault !== undefined && html`<p role="alert" class="fault">${fault}</p>`}
  </form>`;
}

interface BoardProps {
  readonly cluster: ClusterView;
  readonly rows: readonly SimulatedRow[];
  readonly faults: readonly string[];
  readonly readOnly: boolean;
}

function Board({ cluster, rows, faults, readOnly }: BoardProps) {
  const { environment, machines, etcd } = cluster;
  const [fault, setFault] = useState(faults[0] ?? "");
  const [told, setTold] = useState<string>();
  const disturb = (machine: string, disturbance: Disturbance) =>
    send(
      `/api/environments/${encodeURIComponent(environment)}/machines/${encodeURIComponent(machine)}/disturb`,
      disturbance,
    ).then(
      () => setTold(undefined),
      (error: Error) => setTold(error.message),
    );
  const button = (label: string, machine: string, disturbance: Disturbance) =>
    html`<button type="button" aria-label=${`${label}: ${machine}`} onClick=${() => disturb(machine, disturbance)}>${label}</button>`;
  const seen = (name: string) => machines.find((machine) => machine.name === name)?.health;
  return html`
    <h2><a href=${linkTo({ screen: "topology", environment })}>${environment}</a> ${mark(cluster.state)}</h2>
    ${etcd !== null && html`<p>etcd: ${etcd.healthy} of ${etcd.voters} voters healthy, ${etcd.quorum} needed</p>`}
    ${told !== undefined && html`<p role="alert" class="fault">${told}</p>`}
    ${!readOnly && rows.length > 0 && html`<${FieldInput} field=${{ name: "fault", label: `What a machine of ${environment} does when you press Fault`, value: fault, options: faults, words: faultWords }} value=${fault} onValue=${setFault} />`}
    ${
      rows.length === 0
        ? html`<p class="hint">It has no machines yet.</p>`
        : html`<${Table}
            label=${`Simulated machines of ${environment}`}
            headings=${["name", "as seen", "stage", "faults", ...(readOnly ? [] : ["press"])]}
            rows=${inOrder(rows).map(({ name, stage, faults: now }) => {
              const health = seen(name);
              const buttons = html`<span class="buttons">
                ${stage === "off" ? button("Power on", name, { power: true }) : button("Power off", name, { power: false })}
                ${button("Fault", name, { fault })}
                ${now.length > 0 && button("Clear", name, { fault: null })}
              </span>`;
              return [
                html`<a href=${linkTo({ screen: "machine", environment, machine: name })}>${name}</a>`,
                health === undefined ? "–" : mark(health),
                stage,
                now.join(", ") || "–",
                ...(readOnly ? [] : [buttons]),
              ];
            })}
          />`
    }
  `;
}

/** As people count: w-2 before w-10. */
function inOrder(rows: readonly SimulatedRow[]): readonly SimulatedRow[] {
  return [...rows].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}
