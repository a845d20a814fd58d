// SPDX-License-Identifier: Apache-2.0
import type { IConstruct } from "constructs";

/** What a construct was given cannot be built. The path says which construct. */
export class ConstructInputError extends Error {
  override readonly name = "ConstructInputError";
  readonly path: string;

  constructor(construct: IConstruct, message: string) {
    super(`${construct.node.path}: ${message}`);
    this.path = construct.node.path;
  }
}

/** We were wrong about something: a bug of talosmith. */
export class ConstructAssumptionError extends Error {
  override readonly name = "ConstructAssumptionError";

  constructor(construct: IConstruct, message: string) {
    super(`${construct.node.path}: ${message}; this is a fault in talosmith, please report it`);
  }
}
