// SPDX-License-Identifier: Apache-2.0
import type { ConfigDifferences } from "../../shared/wire.ts";
import { html } from "../html.ts";
import { Table } from "./table.ts";

/** Fields of a config, as they are and as they are to be. */
export function Differences({ label, changes, moved }: ConfigDifferences & { readonly label: string }) {
  const rows = changes.map(({ document, path, before, after, reboot }) => [
    `${document} ${path}`,
    html`<pre>${before ?? "–"}</pre>`,
    html`<pre>${after ?? "–"}</pre>`,
    reboot ? "yes" : "no",
  ]);
  return html`
    ${rows.length > 0 && html`<${Table} label=${label} headings=${["field", "now", "desired", "reboot"]} rows=${rows} />`}
    ${moved !== null && html`<p class="hint">${moved}.</p>`}
  `;
}
