// SPDX-License-Identifier: Apache-2.0
import { html } from "../html.ts";

interface TableProps {
  readonly label: string;
  readonly headings: readonly string[];
  /** The first cell names the row. */
  readonly rows: readonly (readonly unknown[])[];
}

/** A table that can be scrolled with the keyboard where it is wider than the page. */
export function Table({ label, headings, rows }: TableProps) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table>
    <thead><tr>${headings.map((heading) => html`<th key=${heading} scope="col">${heading}</th>`)}</tr></thead>
    <tbody>
      ${rows.map(
        ([name, ...cells], index) =>
          html`<tr key=${index}><th scope="row">${name}</th>${cells.map((cell, at) => html`<td key=${at}>${cell}</td>`)}</tr>`,
      )}
    </tbody>
  </table></div>`;
}
