// SPDX-License-Identifier: Apache-2.0
export type { JsonObject } from "./expression.ts";
export { printStack, writtenByTalosmith } from "./files.ts";
export { evaluateStack, type StackResource } from "./stack.ts";
export { isMap, unknown, type Value, type Values } from "./values.ts";
