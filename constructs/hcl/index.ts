// SPDX-License-Identifier: Apache-2.0
export type { JsonObject } from "./expression.ts";
export { type HclOptions, printStack, writtenByTalosmith } from "./files.ts";
export { unknown, type Value } from "./functions.ts";
export { evaluateStack, type StackResource } from "./stack.ts";
