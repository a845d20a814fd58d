// SPDX-License-Identifier: Apache-2.0
import type { OperationView } from "../../shared/wire.ts";
import { age } from "../age.ts";
import { html } from "../html.ts";
import { linkTo } from "../route.ts";

/** What goes on now, with its newest word. */
export function AtWork({ running, now }: { readonly running: readonly OperationView[]; readonly now: number }) {
  return html`<ul>${running.map(
    (operation) => html`<li key=${operation.id}>
      <a href=${linkTo({ screen: "operations", id: operation.id })}>${[operation.kind, operation.environment, operation.subject].filter(Boolean).join(" ")}</a>
      ${" "}for ${age(operation.startedAt, now)}: ${operation.events.at(-1)?.message ?? "begins"}
    </li>`,
  )}</ul>`;
}
