// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from "node:util";
import {
  callFunction,
  EvaluationError,
  entriesOf,
  isList,
  isMap,
  isSet,
  isWhollyKnown,
  own,
  toBoolean,
  toNumber,
  toText,
  unify,
  unknown,
  type Value,
} from "./functions.ts";
import type { Expression, ForExpression, Operation, Step } from "./parse.ts";

/** Names in reach of an expression; any other, such as a resource's, is of something that only an apply knows. */
export interface Scope {
  readonly variables: { readonly [name: string]: Value };
  readonly stack: { readonly local: (name: string) => Value; readonly parse: (text: string) => Expression };
}

/** Keys and values as `for` gives them. */
export function elementsOf(collection: Value): readonly (readonly [Value, Value])[] {
  if (isSet(collection)) return collection.map((item) => [item, item]);
  if (isList(collection)) return collection.map((item, index) => [index, item]);
  if (isMap(collection)) return entriesOf(collection);
  throw new EvaluationError();
}

/** Undefined where Terraform would have an error. */
export function attempt(evaluation: () => Value): Value | undefined {
  try {
    return evaluation();
  } catch (error) {
    if (error instanceof EvaluationError) return undefined;
    throw error;
  }
}

export function evaluate(expression: Expression, scope: Scope): Value {
  switch (expression.kind) {
    case "literal":
      return expression.value;
    case "unreadable":
      return unknown;
    case "name": {
      const value = own(scope.variables, expression.name);
      return value === undefined ? unknown : value;
    }
    case "template": {
      const parts = expression.parts.map((part) => evaluate(part, scope));
      return parts.includes(unknown) ? unknown : parts.map(toText).join("");
    }
    case "access":
      return evaluateAccess(expression.of, expression.steps, scope);
    case "call":
      return evaluateCall(expression, scope);
    case "tuple":
      return expression.items.map((item) => evaluate(item, scope));
    case "object": {
      const entries = expression.items.map(([key, value]) => [evaluate(key, scope), evaluate(value, scope)] as const);
      if (entries.some(([key]) => key === unknown)) return unknown;
      return Object.fromEntries(entries.map(([key, value]) => [toText(key), value]));
    }
    case "for":
      return evaluateFor(expression, scope);
    case "unary": {
      const value = evaluate(expression.of, scope);
      if (value === unknown) return unknown;
      return expression.operator === "!" ? !toBoolean(value) : 0 - toNumber(value);
    }
    case "binary":
      return expression.rest.reduce<Value>(
        (left, operation) => operate(left, operation, scope),
        evaluate(expression.first, scope),
      );
    case "conditional":
      return evaluateConditional(expression, scope);
  }
}

/** `local.name` is the one reference to something outside of the block that is known. */
function evaluateAccess(of: Expression, steps: readonly Step[], scope: Scope): Value {
  const [first, ...rest] = steps;
  const isLocal = of.kind === "name" && of.name === "local" && own(scope.variables, "local") === undefined;
  if (isLocal && first?.kind === "key" && first.key.kind === "literal")
    return rest.reduce((value, step) => take(value, step, scope), scope.stack.local(String(first.key.value)));
  return steps.reduce((value, step) => take(value, step, scope), evaluate(of, scope));
}

function take(value: Value, step: Step, scope: Scope): Value {
  if (value === unknown) return unknown;
  if (step.kind === "splat") {
    const items = isList(value) ? value : value === null ? [] : [value];
    return items.map((item) => step.steps.reduce((part, next) => take(part, next, scope), item));
  }
  const key = evaluate(step.key, scope);
  if (key === unknown) return unknown;
  const found = isMap(value)
    ? own(value, toText(key))
    : isList(value) && !isSet(value)
      ? value[toNumber(key)]
      : undefined;
  if (found === undefined) throw new EvaluationError();
  return found;
}

function evaluateCall({ name, args, expand }: Extract<Expression, { kind: "call" }>, scope: Scope): Value {
  if (name === "try") return evaluateTry(args, scope);
  const values = args.map((arg) => evaluate(arg, scope));
  const last = expand ? values.pop() : undefined;
  if (last === undefined) return callFunction(name, values);
  if (last === unknown) return unknown;
  if (!isList(last)) throw new EvaluationError();
  return callFunction(name, [...values, ...last]);
}

/** What is not wholly known may turn out to be an error, and then the next one is taken. */
function evaluateTry(args: readonly Expression[], scope: Scope): Value {
  for (const arg of args) {
    const value = attempt(() => evaluate(arg, scope));
    if (value !== undefined) return isWhollyKnown(value) ? value : unknown;
  }
  throw new EvaluationError();
}

function evaluateFor({ keyName, valueName, ...parts }: ForExpression, scope: Scope): Value {
  const collection = evaluate(parts.collection, scope);
  if (collection === unknown) return unknown;
  const made: (readonly [Value, Value])[] = [];
  for (const [key, value] of elementsOf(collection)) {
    const named: Scope["variables"] =
      keyName === undefined ? { [valueName]: value } : { [keyName]: key, [valueName]: value };
    const inner = { ...scope, variables: { ...scope.variables, ...named } };
    const condition = parts.condition === undefined ? true : evaluate(parts.condition, inner);
    if (condition === unknown) return unknown;
    if (toBoolean(condition))
      made.push([parts.key === undefined ? null : evaluate(parts.key, inner), evaluate(parts.value, inner)]);
  }
  if (parts.key === undefined) return made.map(([, value]) => value);
  if (made.some(([key]) => key === unknown)) return unknown;
  const entries = made.map(([key, value]) => [toText(key), value] as const);
  if (new Set(entries.map(([key]) => key)).size < entries.length) throw new EvaluationError();
  return Object.fromEntries(entries);
}

/** The branch that is not taken counts for the type: `true ? 1 : "a"` is a text. */
function evaluateConditional(expression: Extract<Expression, { kind: "conditional" }>, scope: Scope): Value {
  const condition = evaluate(expression.condition, scope);
  if (condition === unknown) return unknown;
  const isTrue = toBoolean(condition);
  const taken = evaluate(isTrue ? expression.yes : expression.no, scope);
  const other = attempt(() => evaluate(isTrue ? expression.no : expression.yes, scope)) ?? null;
  return unify([taken, other])[0] ?? null;
}

function operate(left: Value, { operator, right: expression }: Operation, scope: Scope): Value {
  if (operator === "&&" && left !== unknown && !toBoolean(left)) return false;
  if (operator === "||" && left !== unknown && toBoolean(left)) return true;
  const right = evaluate(expression, scope);
  if (operator === "==") return isEqual(left, right);
  if (left === unknown || right === unknown) return unknown;
  if (operator === "&&" || operator === "||") return toBoolean(right);
  if (operator === "!=") {
    const equal = isEqual(left, right);
    return equal === unknown ? unknown : !equal;
  }
  return calculate(toNumber(left), operator, toNumber(right));
}

/** Collections of equal content may still differ in type, as a list and a tuple do, and are not equal then. */
function isEqual(left: Value, right: Value): boolean | typeof unknown {
  if (left === unknown || right === unknown) return unknown;
  const isCollection = (value: Value) => isList(value) || isMap(value);
  if (!isCollection(left) || !isCollection(right)) return left === right;
  if (!isWhollyKnown(left) || !isWhollyKnown(right)) return unknown;
  return isDeepStrictEqual(left, right) ? unknown : false;
}

/** Terraform calculates with 512 bits: what ours cannot hold exactly is unknown. */
function calculate(left: number, operator: string, right: number): Value {
  switch (operator) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
  const results: Readonly<Record<string, number>> = {
    "+": left + right,
    "-": left - right,
    "*": left * right,
    "/": left / right,
    "%": left % right,
  };
  const result = results[operator];
  const isExact = [left, right, result].every(Number.isSafeInteger);
  return result !== undefined && isExact ? result + 0 : unknown;
}
