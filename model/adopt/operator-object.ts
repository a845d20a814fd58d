// SPDX-License-Identifier: Apache-2.0
import type { Data } from "./source.ts";

/** An object of talos-operator, by what messages call it. */
export interface OperatorObject {
  readonly where: string;
  readonly kind: string;
  readonly name: string;
  readonly labels: Data;
  readonly spec: Data;
  readonly status: Data;
}
