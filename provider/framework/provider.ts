// SPDX-License-Identifier: Apache-2.0
import type { Attributes, ConfigOf, PlanOf, StateOf } from "./attribute.ts";
import type { Diagnostics, ErrorTranslator } from "./diagnostics.ts";
import type { IdentityValues, Log, NamedType, Operation, Resource, ValidateRequest } from "./resource.ts";
import type { Type, Value } from "./value.ts";

interface ConfigureRequest<S extends Attributes> {
  /** May hold unknown values in a first plan, when the provider block depends on a resource. */
  readonly config: ConfigOf<S>;
  readonly log: Log;
  readonly diagnostics: Diagnostics;
}

/** All that Terraform can ask of us. `C` is handed to every operation. */
export interface Provider<S extends Attributes, C> {
  readonly description: string;
  readonly attributes: S;
  readonly resources: readonly Resource<Attributes, C>[];
  readonly dataSources: readonly DataSource<Attributes, C>[];
  readonly ephemeralResources: readonly EphemeralResource<Attributes, C>[];
  readonly functions: readonly ProviderFunction[];
  readonly actions: readonly Action<Attributes, C>[];
  /** For some of `resources`. */
  readonly lists: readonly ListResource<Attributes, C>[];
  /** Turns errors of our own libraries into what a person can act on. */
  readonly translateError?: ErrorTranslator;
  validate?(request: ValidateRequest<S>): void | Promise<void>;
  configure(request: ConfigureRequest<S>): C | Promise<C>;
}

export interface DataRequest<S extends Attributes, C> extends Operation<C> {
  readonly config: PlanOf<S>;
}

/** Something that is only read, anew in each plan. */
export interface DataSource<S extends Attributes, C> extends NamedType<S> {
  readonly timeouts?: { readonly read: string };
  read(request: DataRequest<S, C>): Promise<StateOf<S>>;
}

/** A value that lives as long as one run and is in no plan and no state. Needs Terraform 1.10. */
export interface EphemeralResource<S extends Attributes, C> extends NamedType<S> {
  open(request: DataRequest<S, C>): Promise<StateOf<S>>;
}

export interface ListRequest<S extends Attributes, C> extends Operation<C> {
  readonly config: PlanOf<S>;
}

/** One resource that exists. */
export interface Listed {
  readonly identity: IdentityValues;
  /** For people. */
  readonly name: string;
}

/** Finds the resources of a type that exist, for `terraform query`. Needs Terraform 1.14. Its name is that of the type. */
export interface ListResource<S extends Attributes, C> extends NamedType<S> {
  list(request: ListRequest<S, C>): Promise<readonly Listed[]>;
}

export interface ActionRequest<S extends Attributes, C> extends Operation<C> {
  readonly config: PlanOf<S>;
  /** Shows a sentence while the action runs. */
  progress(sentence: string): void;
}

/** Something that is done and leaves no state: by itself, or before or after a change of a resource. Needs Terraform 1.14. */
export interface Action<S extends Attributes, C> extends NamedType<S> {
  readonly timeouts?: { readonly invoke: string };
  invoke(request: ActionRequest<S, C>): Promise<void>;
}

export interface Parameter {
  readonly name: string;
  readonly type: Type;
  readonly description: string;
}

/** Thrown by a function: the fault of one argument (counted from 0), or of the whole call. */
export class FunctionError extends Error {
  override readonly name = "FunctionError";
  readonly argument: number | undefined;
  constructor(message: string, argument?: number) {
    super(message);
    this.argument = argument;
  }
}

/** A pure function of the language. Terraform calls it only with arguments that are known and not null. */
export interface ProviderFunction {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** Takes all further arguments. */
  readonly variadic?: Parameter;
  readonly returns: Type;
  call(values: readonly Value[]): Value | Promise<Value>;
}
