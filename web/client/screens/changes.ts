// SPDX-License-Identifier: Apache-2.0
import type { ClusterView } from "../../shared/wire.ts";
import { html } from "../html.ts";
import { StepList } from "../parts/dialog.ts";
import { Differences } from "../parts/differences.ts";

interface ChangesProps {
  readonly cluster: ClusterView;
  readonly program: string;
}

/** The plan as a person reads it: steps in their order, then what they change in configs, secrets replaced. */
export function ChangesScreen({ cluster, program }: ChangesProps) {
  const { environment, state, pending, differences, machines } = cluster;
  const unseen = machines.filter(({ health }) => health === "unreachable");
  const planned = state === "not deployed";
  return html`
    ${
      unseen.length > 0 &&
      html`<p class="fault">Could not be checked, so the steps of these machines are not known: ${unseen.map(({ name }) => name).join(", ")}.</p>`
    }
    ${
      planned && pending.length === 0
        ? html`<p class="hint">Nothing is deployed yet: Apply … asks the machines first.</p>`
        : html`<h2>What an apply would do now</h2><${StepList} steps=${pending} />`
    }
    ${planned && html`<p class="hint">The steps on the machines are known when they are there.</p>`}
    ${planned && html`<p>The whole plan: <code>${program} plan ${environment}</code></p>`}
    ${differences.length > 0 && html`<h2>Configs that change, secrets replaced</h2>`}
    ${differences.map(
      ({ machines: names, changes, moved }) => html`<div key=${names[0]}>
        <h3>${namesInWords(names)}</h3>
        <${Differences} label=${`Config of ${namesInWords(names)}`} changes=${changes} moved=${moved} />
      </div>`,
    )}
  `;
}

const named = 6;

function namesInWords(names: readonly string[]): string {
  const others = names.length - named;
  return others > 1 ? `${names.slice(0, named).join(", ")} and ${others} others` : names.join(", ");
}
