// SPDX-License-Identifier: Apache-2.0
import type { Type } from "./type.ts";
import type { Value } from "./value.ts";

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
