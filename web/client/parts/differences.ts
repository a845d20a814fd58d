// SPDX-License-Identifier: Apache-2.0
import type { ConfigChange } from "../../shared/wire.ts";
import { html } from "../html.ts";
import { Table } from "./table.ts";

/** Fields of a config, as they are and as they are to be. */
export function Differences({ label, changes }: { readonly label: string; readonly changes: readonly ConfigChange[] }) {
  return html`<${Table}
    label=${label}
    headings=${["field", "now", "desired", "reboot"]}
    rows=${changes.map(({ document, path, before, after, reboot }) => [
      `${document} ${path}`,
      html`<pre>${before ?? "–"}</pre>`,
      html`<pre>${after ?? "–"}</pre>`,
      reboot ? "yes" : "no",
    ])}
  />`;
}
