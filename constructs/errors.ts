// SPDX-License-Identifier: Apache-2.0
import type { IConstruct } from "constructs";

/** The props of a construct are invalid. The message names the construct, the stack trace the line of your code. */
export class ConstructInputError extends Error {
  /** Always `ConstructInputError`. */
  override readonly name = "ConstructInputError";
  readonly #path: string;

  /** @internal Use `refuse`. */
  constructor(construct: IConstruct, message: string, _marker?: string) {
    super(`${construct.node.path}: ${message}`);
    this.#path = construct.node.path;
    const frames = (this.stack ?? "").split("\n").filter((line) => /^ {4}at (?!.*(node:|\/node_modules\/))/.test(line));
    this.stack = [`ConstructInputError: ${this.message}`, ...frames].join("\n");
  }

  // Not a field: Node would print it below the message.
  /** Path of the construct. */
  get path(): string {
    return this.#path;
  }
}

/** Throws a ConstructInputError. Node shows no source line before the message where that line has this marker. */
export function refuse(construct: IConstruct, message: string): never {
  throw new ConstructInputError(construct, message, "node-do-not-add-exception-line");
}

/** We were wrong about something: a bug of talosmith. */
export class ConstructAssumptionError extends Error {
  override readonly name = "ConstructAssumptionError";

  constructor(construct: IConstruct, message: string) {
    super(`${construct.node.path}: ${message}; this is a fault in talosmith, please report it`);
  }
}
