// SPDX-License-Identifier: Apache-2.0
import { TerraformDataSource, type TerraformMetaArguments, TerraformProvider, TerraformResource } from "cdktf";
import type { Construct } from "constructs";
import { refuse } from "../errors.ts";
import { synthesizeAttributes } from "./attributes.ts";

/** Arguments by their names in Terraform, now or when the stack is written. */
export type Arguments<A> = A | (() => A);

/** Meta-arguments of a resource, as the CDK has them. */
export interface BindingMeta
  extends Pick<TerraformMetaArguments, "dependsOn" | "provider" | "lifecycle" | "provisioners"> {}

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

function evaluate<A>(given: Arguments<A>): { [name: string]: unknown } {
  const value = typeof given === "function" ? (given as () => A)() : given;
  return synthesizeAttributes(value) as { [name: string]: unknown };
}

function refuseHcl(construct: Construct): never {
  refuse(construct, "the CDK cannot print this as HCL; use `talosmith synth <environment> --hcl`");
}

/**
 * Base of our resource classes. They are typed, spell arguments as Terraform does, and add nothing: what a provider's
 * documentation says holds.
 */
export abstract class Resource<A extends object> extends TerraformResource {
  readonly #arguments: Arguments<A>;

  constructor(scope: Construct, id: string, type: string, args: Arguments<A>, meta: BindingMeta = {}) {
    super(scope, id, { terraformResourceType: type, ...meta });
    this.#arguments = args;
  }

  get id(): string {
    return this.getStringAttribute("id");
  }

  /** `type.name`, for the places where Terraform wants an address and no expression. */
  get terraformAddress(): string {
    return `${this.terraformResourceType}.${this.friendlyUniqueId}`;
  }

  /** Makes this resource come after others, and go before them. */
  dependOn(...others: readonly Addressable[]): void {
    this.dependsOn = [...(this.dependsOn ?? []), ...others.map((other) => other.terraformAddress)];
  }

  protected override synthesizeAttributes(): { [name: string]: unknown } {
    return evaluate(this.#arguments);
  }

  protected override synthesizeHclAttributes(): never {
    return refuseHcl(this);
  }
}

/** Base of our data source classes; see Resource. */
export abstract class DataSource<A extends object> extends TerraformDataSource {
  readonly #arguments: Arguments<A>;

  constructor(scope: Construct, id: string, type: string, args: Arguments<A>, meta: BindingMeta = {}) {
    super(scope, id, { terraformResourceType: type, ...meta });
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
