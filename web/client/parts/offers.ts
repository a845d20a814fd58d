// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import type { ShapingKind } from "../../shared/wire.ts";
import { html } from "../html.ts";
import { ActionDialog, type Offer } from "./dialog.ts";

interface OffersProps {
  readonly environment: string;
  readonly machine?: string;
  readonly offers: readonly (Offer & {
    readonly tone?: "main" | "danger";
    /** Whether an obstacle stands in its way. */
    readonly shaping?: ShapingKind;
  })[];
  readonly readOnly: boolean;
  readonly obstacle?: string | null;
}

/** A row of buttons; each opens the dialog of its action. What cannot be done says why. */
export function Offers({ environment, machine, offers, readOnly, obstacle = null }: OffersProps) {
  const [chosen, setChosen] = useState<Offer>();
  if (readOnly || offers.length === 0) return null;
  const barred = obstacle === null ? [] : offers.filter(({ shaping }) => shaping !== undefined);
  return html`
    <p class="buttons">
      ${offers.map(
        (offer) =>
          html`<button key=${offer.label} type="button" class=${offer.tone ?? ""} disabled=${barred.includes(offer)} aria-describedby=${barred.includes(offer) ? "obstacle" : undefined} onClick=${() => setChosen(offer)}>${offer.label} …</button>`,
      )}
    </p>
    ${obstacle !== null && barred.length > 0 && html`<p class="notice" id="obstacle">${obstacle}</p>`}
    ${chosen !== undefined && html`<${ActionDialog} key=${chosen.label} offer=${chosen} environment=${environment} machine=${machine} onClose=${() => setChosen(undefined)} />`}
  `;
}
