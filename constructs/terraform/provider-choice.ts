// SPDX-License-Identifier: Apache-2.0
// Which of several provider blocks for one provider a resource belongs to: two regions, two hosts, two accounts.
import { TerraformProvider, TerraformStack } from "cdktn";
import type { Construct } from "constructs";
import { refuse } from "../errors.ts";

const chosen = new WeakMap<Construct, TerraformProvider>();

/** Makes resources and data sources below `scope` that are created from now on belong to this provider block. */
export function chooseProvider(scope: Construct, provider: TerraformProvider): void {
  chosen.set(scope, provider);
}

/** The block that a resource of this type belongs to; undefined for the one without alias, which needs no mention. */
export function providerOf(scope: Construct, type: string): TerraformProvider | undefined {
  const nearest = [...scope.node.scopes]
    .reverse()
    .flatMap((each) => chosen.get(each as Construct) ?? [])
    .find(({ terraformResourceType: name }) => type.startsWith(`${name}_`));
  return nearest?.alias === undefined ? undefined : nearest;
}

/** The block for a provider that has no alias, in the stack of a construct. */
export function blockWithoutAlias(
  construct: Construct,
  name: string,
  except?: TerraformProvider,
): TerraformProvider | undefined {
  return TerraformStack.of(construct)
    .node.findAll()
    .filter((each): each is TerraformProvider => TerraformProvider.isTerraformProvider(each))
    .find((each) => each !== except && each.terraformResourceType === name && each.alias === undefined);
}

/** The alias of another block for a provider: none in a stack that has no block for it yet. */
export function aliasUnlessFirst(construct: Construct, name: string, alias: string): string | undefined {
  return blockWithoutAlias(construct, name) === undefined ? undefined : alias.replaceAll(/[^A-Za-z0-9_]/g, "_");
}

/** The block of an infrastructure: the one that it was given, or one that is made with this alias. */
export function providerFor(
  infrastructure: Construct,
  name: string,
  given: TerraformProvider | ((alias: string | undefined) => TerraformProvider),
): TerraformProvider {
  if (typeof given !== "function") {
    if (given.terraformResourceType !== name)
      refuse(infrastructure, `provider is one for ${given.terraformResourceType}; expected one for ${name}`);
    chooseProvider(infrastructure, given);
    return given;
  }
  const { scopes } = infrastructure.node;
  const path = scopes.slice(scopes.indexOf(TerraformStack.of(infrastructure)) + 1).map(({ node }) => node.id);
  const provider = given(aliasUnlessFirst(infrastructure, name, path.join("_")));
  chooseProvider(infrastructure, provider);
  return provider;
}
