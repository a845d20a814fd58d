// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { html } from "../html.ts";
import { ActionDialog, type Offer } from "./dialog.ts";

interface OffersProps {
  readonly offers: readonly (Offer & { readonly label: string; readonly tone?: "main" | "danger" })[];
  readonly readOnly: boolean;
}

/** A row of buttons; each opens the dialog of its action. */
export function Offers({ offers, readOnly }: OffersProps) {
  const [chosen, setChosen] = useState<Offer>();
  if (readOnly || offers.length === 0) return null;
  return html`
    <p class="buttons">
      ${offers.map(
        (offer) =>
          html`<button key=${offer.label} type="button" class=${offer.tone ?? ""} onClick=${() => setChosen(offer)}>${offer.label} …</button>`,
      )}
    </p>
    ${chosen !== undefined && html`<${ActionDialog} key=${chosen.title} offer=${chosen} onClose=${() => setChosen(undefined)} />`}
  `;
}
