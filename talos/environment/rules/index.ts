// SPDX-License-Identifier: Apache-2.0
import type { Kind } from "../schema/index.ts";
import { awsRules } from "./aws.ts";
import { commonRules } from "./common.ts";
import { containerRules } from "./container.ts";
import { firstContactChosen } from "./first-contact.ts";
import { libvirtRules } from "./libvirt.ts";
import { metalRules } from "./metal.ts";
import type { Rule } from "./rule.ts";

const rulesOfKind: Readonly<Record<Kind, readonly Rule[]>> = {
  simulated: [],
  libvirt: [firstContactChosen, ...libvirtRules],
  aws: [firstContactChosen, ...awsRules],
  metal: metalRules,
  container: [firstContactChosen, ...containerRules],
};

/** Every rule that an environment of this kind must keep. */
export function rulesFor(kind: Kind): readonly Rule[] {
  return [...commonRules, ...rulesOfKind[kind]];
}

export { commonRules } from "./common.ts";
export type { Rule, Violation } from "./rule.ts";
