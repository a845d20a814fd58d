// SPDX-License-Identifier: Apache-2.0
import htm from "htm";
import { h, type VNode } from "preact";

/** HTML in template literals, as preact's nodes. Text is always text: nothing that is put in can become markup. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
