// SPDX-License-Identifier: Apache-2.0
import { TerraformDataSource, type TerraformMetaArguments, TerraformProvider, TerraformResource, Token } from "cdktn";
import type { Construct } from "constructs";
import { given } from "../../talos/given.ts";
import { refuse } from "../errors.ts";
import { type AttributeValue, composed, expression, synthesizeAttributes } from "./attributes.ts";
import { blockWithoutAlias, providerOf } from "./provider-choice.ts";

/** Arguments by their names in Terraform, or a function that gives them when the stack is written. */
export type Arguments<A> = A | (() => A);

/** Meta-arguments of a resource, as the CDK has them. */
export interface BindingMeta
  extends Pick<TerraformMetaArguments, "dependsOn" | "forEach" | "provider" | "lifecycle" | "provisioners"> {
  /** @internal Name of a machine's own block in 0.1.0. @default - the path, with the machine's index below its pool */
  readonly formerId?: (machine: FormerMachine) => string;
}

/** What names of blocks were made of in 0.1.0, when each machine had its own. */
interface FormerMachine {
  readonly name: string;
  readonly pool: string;
  readonly index: number;
}

export interface ProviderDescription {
  /** Name in the configuration, such as `aws`. */
  readonly name: string;
  readonly source: string;
  /** Version constraint. */
  readonly version: string;
}

/** Something that has an address in Terraform. */
export interface Addressable {
  /** `type.name`. */
  readonly terraformAddress: string;
}

function evaluate<A>(args: Arguments<A>): { [name: string]: unknown } {
  const value = typeof args === "function" ? (args as () => A)() : args;
  return synthesizeAttributes(value) as { [name: string]: unknown };
}

function refuseHcl(construct: Construct): never {
  refuse(construct, "the CDK cannot print this as HCL; use `talosmith synth <environment> --hcl`");
}

/**
 * Base of talosmith's resource classes. They are typed, spell arguments as Terraform does, and add nothing: what a
 * provider's documentation says holds.
 */
export abstract class Resource<A extends object> extends TerraformResource {
  readonly #arguments: Arguments<A>;
  /** Dotted paths of arguments that instances may set for themselves, each with the column that has their values. */
  readonly #ofInstances = new Map<string, string>();

  /** @internal */
  readonly formerId: BindingMeta["formerId"] | undefined;

  constructor(scope: Construct, id: string, type: string, args: Arguments<A>, meta: BindingMeta = {}) {
    const { formerId, ...ofTerraform } = meta;
    super(scope, id, { terraformResourceType: type, ...given({ provider: providerOf(scope, type) }), ...ofTerraform });
    this.#arguments = args;
    this.formerId = formerId;
  }

  /** A reference to its id. */
  get id(): string {
    return this.attribute("id");
  }

  /** A reference to what Terraform knows of it under this name. */
  attribute(name: string): string {
    return this.getStringAttribute(name);
  }

  /** `type.name`, for the places where Terraform wants an address and no expression. */
  get terraformAddress(): string {
    return `${this.terraformResourceType}.${this.friendlyUniqueId}`;
  }

  /** Makes this resource come after others, and go before them. */
  dependOn(...others: readonly Addressable[]): void {
    this.dependsOn = [...(this.dependsOn ?? []), ...others.map((other) => other.terraformAddress)];
  }

  /** An attribute of one instance, for a block with `for_each`. `key` is an expression. */
  instance(key: string, attribute: string): string {
    return expression(`${this.terraformAddress}[${key}].${attribute}`);
  }

  /** @internal Lets an instance whose row has the column set an argument for itself. */
  letInstancesSet(argument: string, column: string): void {
    this.#ofInstances.set(argument, column);
  }

  protected override synthesizeAttributes(): { [name: string]: unknown } {
    const args = evaluate(this.#arguments);
    return [...this.#ofInstances].reduce((rest, [argument, column]) => this.#orOwn(rest, argument, column), args);
  }

  protected override synthesizeHclAttributes(): never {
    return refuseHcl(this);
  }

  /** The arguments with one in which the instance's own value comes before the usual one. */
  #orOwn(
    args: { [name: string]: unknown },
    argument: string,
    column: string,
    [name = "", ...rest] = argument.split("."),
  ): typeof args {
    const usual = args[name];
    if (rest.length === 0)
      return { ...args, [name]: composed((print) => `try(each.value.${column}, ${print(usual ?? null)})`) };
    if (typeof usual !== "object" || usual === null || Array.isArray(usual) || Token.isUnresolved(usual))
      refuse(
        this,
        `${argument} can't be set for one machine: ${name} is no block or object; expected a path through such`,
      );
    return { ...args, [name]: this.#orOwn({ ...usual }, argument, column, rest) };
  }
}

/** A resource of any provider, by its type; arguments are spelled as in Terraform. Text means itself, also `${`. */
export class AnyResource extends Resource<{ readonly [argument: string]: AttributeValue }> {}

/** Base of our data source classes; see Resource. */
export abstract class DataSource<A extends object> extends TerraformDataSource {
  readonly #arguments: Arguments<A>;

  constructor(scope: Construct, id: string, type: string, args: Arguments<A>, meta: BindingMeta = {}) {
    super(scope, id, { terraformResourceType: type, ...given({ provider: providerOf(scope, type) }), ...meta });
    this.#arguments = args;
  }

  protected override synthesizeAttributes(): { [name: string]: unknown } {
    return evaluate(this.#arguments);
  }

  protected override synthesizeHclAttributes(): never {
    return refuseHcl(this);
  }
}

/** Base of our provider classes; see Resource. */
export abstract class Provider<A extends object> extends TerraformProvider {
  readonly #arguments: A;
  readonly #alias: string | undefined;

  constructor(scope: Construct, id: string, description: ProviderDescription, args: A, alias?: string) {
    super(scope, id, {
      terraformResourceType: description.name,
      terraformProviderSource: description.source,
      terraformGeneratorMetadata: { providerName: description.name, providerVersion: description.version },
    });
    this.#arguments = args;
    this.#alias = alias;
    // Terraform's own words for it come only with init, and name no construct.
    this.node.addValidation({
      validate: () => {
        const other = alias === undefined ? blockWithoutAlias(this, description.name, this) : undefined;
        return other === undefined
          ? []
          : [
              `found a second provider block for ${description.name} without alias, ${other.node.path}; expected one. Pass it to the infrastructure as \`provider\`, or give one of them an alias`,
            ];
      },
    });
  }

  override get alias(): string | undefined {
    return this.#alias;
  }

  protected override synthesizeAttributes(): { [name: string]: unknown } {
    return evaluate(this.#arguments);
  }

  protected override synthesizeHclAttributes(): never {
    return refuseHcl(this);
  }
}
