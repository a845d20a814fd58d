// SPDX-License-Identifier: Apache-2.0
import type { Kind } from "../schema/index.ts";
import { awsInfrastructureRules, awsRules } from "./aws.ts";
import { nodesApart, nodesCovered } from "./cluster.ts";
import { commonRules, firstContactChosen, furtherPoolsHaveOffsets } from "./common.ts";
import { containerRules } from "./container.ts";
import { libvirtInfrastructureRules, libvirtRules } from "./libvirt.ts";
import { metalInfrastructureRules, metalRules } from "./metal.ts";
import type { Rule, Rules } from "./rule.ts";

/** By name, so that tests can tell which of them an entrance does not hold. */
export const rulesOfKind: Readonly<Record<Kind, Rules>> = {
  simulated: {},
  libvirt: { firstContactChosen, ...libvirtRules, furtherPoolsHaveOffsets, nodesApart, nodesCovered },
  aws: { firstContactChosen, ...awsRules, nodesApart },
  metal: { ...metalRules, nodesApart, nodesCovered },
  container: { firstContactChosen, ...containerRules, furtherPoolsHaveOffsets, nodesApart },
};

const infrastructureRules: Readonly<Record<Kind, Rules>> = {
  simulated: {},
  libvirt: { firstContactChosen, ...libvirtInfrastructureRules },
  aws: { firstContactChosen, ...awsInfrastructureRules },
  metal: metalInfrastructureRules,
  container: { firstContactChosen },
};

/** Every rule that an environment of this kind must keep. */
export function rulesFor(kind: Kind | undefined): readonly Rule[] {
  return [commonRules, kind && rulesOfKind[kind]].flatMap((rules) => Object.values<Rule>(rules ?? {}));
}

/** Those that its infrastructure alone must keep, whatever runs on it. */
export function infrastructureRulesFor(kind: Kind): readonly Rule[] {
  return Object.values(infrastructureRules[kind]);
}

export { clusterRules } from "./cluster.ts";
export { commonRules } from "./common.ts";
export { type Rule, type Violation, violationsOf } from "./rule.ts";
