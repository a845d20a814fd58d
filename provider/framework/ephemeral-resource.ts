// SPDX-License-Identifier: Apache-2.0
import type { Attributes, StateOf } from "./attribute.ts";
import type { DataRequest } from "./data-source.ts";
import type { ValidateRequest } from "./resource.ts";

/** A value that lives as long as one run and is in no plan and no state. Needs Terraform 1.10. */
export interface EphemeralResource<S extends Attributes, C> {
  readonly name: string;
  readonly description: string;
  readonly attributes: S;
  validate?(request: ValidateRequest<S>): void | Promise<void>;
  open(request: DataRequest<S, C>): Promise<StateOf<S>>;
}
