// SPDX-License-Identifier: Apache-2.0
import type { Attributes, PlanOf, StateOf } from "./attribute.ts";
import type { Operation, ValidateRequest } from "./resource.ts";

export interface DataRequest<S extends Attributes, C> extends Operation<C> {
  readonly config: PlanOf<S>;
}

/** Something that is only read, anew in each plan. */
export interface DataSource<S extends Attributes, C> {
  readonly name: string;
  readonly description: string;
  readonly attributes: S;
  readonly timeouts?: { readonly read: string };
  validate?(request: ValidateRequest<S>): void | Promise<void>;
  read(request: DataRequest<S, C>): Promise<StateOf<S>>;
}
