// SPDX-License-Identifier: Apache-2.0
import { html } from "../html.ts";

interface TableProps {
  readonly label: string;
  readonly headings: readonly string[];
  /** The first cell names the row. */
  readonly rows: readonly (readonly unknown[])[];
}

/**
 * A table that can be scrolled with the keyboard where it is wider than the page. In a narrow window each row is a card
 * with its headings; the roles are said, for the style takes them away there.
 */
export function Table({ label, headings, rows }: TableProps) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table role="table">
    <thead role="rowgroup"><tr role="row">${headings.map((heading) => html`<th key=${heading} scope="col" role="columnheader">${heading}</th>`)}</tr></thead>
    <tbody role="rowgroup">
      ${rows.map(
        ([name, ...cells], index) =>
          html`<tr key=${index} role="row"><th scope="row" role="rowheader">${name}</th>${cells.map(
            (cell, at) => html`<td key=${at} role="cell" data-heading=${headings[at + 1]}>${cell}</td>`,
          )}</tr>`,
      )}
    </tbody>
  </table></div>`;
}
