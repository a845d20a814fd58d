// SPDX-License-Identifier: Apache-2.0
import {
  attempt,
  callFunction,
  type Expression,
  elementsOf,
  isList,
  partAt,
  refuse,
  textOf,
  unknown,
  type Value,
  type Values,
} from "./values.ts";

/** What an expression does with the value before it: `.name`, `[key]`, `[*]`. */
type Step = (value: Value, scope: Values) => Value;

const identifier = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy;

/**
 * Reads a text of Terraform's JSON, which is a template. Only what generated stacks hold is read: a text with an operator,
 * a condition, a directive or a comment is unknown as a whole. Text that Terraform refuses is unknown, or has any
 * value where that is simpler to read; it never throws.
 */
export function readTemplate(text: string): Expression {
  const parsed = attempt(() => new Parser(text).template(undefined));
  return (scope) => {
    const value = attempt(() => parsed?.(scope));
    return value === undefined ? unknown : value;
  };
}

class Parser {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Literal text and `${…}`, up to the closing quote of an HCL text or to the end of a JSON text. */
  template(quote: '"' | undefined): Expression {
    const parts: Expression[] = [];
    while (this.#text[this.#at] !== quote) {
      const marks = this.#match(/\$+\{?|%+\{?/y);
      if (marks === "${") parts.push(this.#expression("}"));
      else {
        if (marks === "%{") refuse();
        const plain = quote === undefined ? /[^$%]+/y : /[^$%"\\\n]+/y;
        const text = (marks?.replace(/^.(?=.+\{)/, "") ?? this.#match(plain) ?? this.#escape()).normalize();
        parts.push(() => text);
      }
    }
    this.#at += 1;
    return (scope) => {
      const values = parts.map((part) => part(scope));
      const [sole] = values;
      // A template of one expression keeps its type.
      if (sole !== undefined && values.length === 1) return sole;
      const texts = values.map(textOf);
      return texts.includes(unknown) ? unknown : texts.join("").normalize();
    };
  }

  /** Only in an HCL text: in JSON's, the reader of the JSON has done it. */
  #escape(): string {
    const code = this.#match(/\\(?:u[\da-fA-F]{4}|[nrt"\\])/y) ?? refuse();
    return JSON.parse(`"${code}"`) as string;
  }

  /** An expression, and the symbol that ends it where there has to be one. */
  #expression(end?: string): Expression {
    return this.#deeper(() => {
      const term = this.#term();
      const steps = this.#steps();
      if (end !== undefined) this.#expect(end);
      return (scope) => steps(term(scope), scope);
    });
  }

  #steps(): Step {
    const steps: Step[] = [];
    for (let step = this.#step(); step !== undefined; step = this.#step()) steps.push(step);
    return (value, scope) => steps.reduce((part, step) => step(part, scope), value);
  }

  #step(): Step | undefined {
    if (this.#take(".")) {
      const name = this.#name();
      return (value) => partAt(value, name);
    }
    if (!this.#take("[")) return undefined;
    if (!this.#take("*")) {
      const key = this.#expression("]");
      return (value, scope) => partAt(value, key(scope));
    }
    this.#expect("]");
    const steps = this.#deeper(() => this.#steps());
    return (value, scope) => (isList(value) ? value.map((item) => steps(item, scope)) : unknown);
  }

  #term(): Expression {
    if (this.#take('"')) return this.template('"');
    if (this.#take("(")) return this.#expression(")");
    if (this.#take("[")) return this.#word("for") ? this.#for("]") : this.#tuple();
    if (this.#take("{")) return this.#word("for") ? this.#for("}") : this.#object();
    const digits = this.#match(/-?\d+(?:\.\d+)?/y);
    if (digits !== undefined) return exactNumber(digits);
    const name = this.#name();
    if (this.#take("(")) return this.#call(name);
    return (scope) => (Object.hasOwn(scope, name) ? (scope[name] ?? null) : unknown);
  }

  #call(name: string): Expression {
    const args = this.#items(")", () => this.#expression());
    return (scope) => callFunction(name, args, scope);
  }

  #tuple(): Expression {
    const items = this.#items("]", () => this.#expression());
    return (scope) => items.map((item) => item(scope));
  }

  #object(): Expression {
    const items = this.#items("}", () => {
      const key = this.#key();
      if (!this.#take("=")) this.#expect(":");
      return [key, this.#expression()] as const;
    });
    return (scope) => objectOf(items.map(([key, value]) => [textOf(key(scope)), value(scope)]));
  }

  /** A bare name is a text here, even `true`; anything but a text needs parentheses. */
  #key(): Expression {
    if (this.#take('"')) return this.template('"');
    if (this.#take("(")) return this.#expression(")");
    const name = this.#name();
    return () => name;
  }

  /** `key, value in collection : … if …` up to the closing bracket: into an object, or into a tuple. */
  #for(close: "]" | "}"): Expression {
    const keyName = this.#name();
    const valueName = this.#take(",") ? this.#name() : keyName;
    if (!this.#word("in")) refuse();
    const collection = this.#expression(":");
    const key = close === "}" ? this.#expression("=>") : undefined;
    const value = this.#expression();
    const condition: Expression = this.#word("if") ? this.#expression() : () => true;
    this.#expect(close);
    return (scope) => {
      const of = collection(scope);
      if (of === unknown) return unknown;
      const scopes = elementsOf(of).map(([k, v]): Values => ({ ...scope, [keyName]: k, [valueName]: v }));
      const conditions = scopes.map((inner) => textOf(condition(inner)));
      if (conditions.includes(unknown)) return unknown;
      if (conditions.some((text) => text !== "true" && text !== "false")) refuse();
      const taken = scopes.filter((_, index) => conditions[index] === "true");
      if (key === undefined) return taken.map(value);
      const made = objectOf(taken.map((inner) => [textOf(key(inner)), value(inner)]));
      if (made !== unknown && Object.keys(made).length < taken.length) refuse();
      return made;
    };
  }

  /** Items up to the closing bracket; in an object, a line break may stand for a comma. */
  #items<T>(close: ")" | "]" | "}", item: () => T): readonly T[] {
    const items: T[] = [];
    while (!this.#take(close)) {
      items.push(item());
      if (!this.#take(",") && close !== "}" && this.#text[this.#at] !== close) refuse();
    }
    return items;
  }

  /** Nesting that no stack has is unknown rather than a stack overflow. */
  #deeper<T>(parse: () => T): T {
    this.#depth += 1;
    if (this.#depth > 100) refuse();
    const result = parse();
    this.#depth -= 1;
    return result;
  }

  #name(): string {
    this.#match(/\s+/y);
    return this.#match(identifier) ?? refuse();
  }

  /** Takes the word unless a longer one begins there. */
  #word(word: string): boolean {
    this.#match(/\s+/y);
    const before = this.#at;
    if (this.#match(identifier) === word) return true;
    this.#at = before;
    return false;
  }

  #take(symbol: string): boolean {
    this.#match(/\s+/y);
    if (!this.#text.startsWith(symbol, this.#at)) return false;
    this.#at += symbol.length;
    return true;
  }

  #expect(symbol: string): void {
    if (!this.#take(symbol)) refuse();
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

/** Terraform's numbers have 512 bits: one that cannot be held exactly here is left alone. */
function exactNumber(digits: string): Expression {
  const value = Number(digits);
  return String(value) === digits ? () => value : refuse();
}

function objectOf(entries: readonly (readonly [string | typeof unknown, Value])[]): Values | typeof unknown {
  return entries.some(([key]) => key === unknown) ? unknown : (Object.fromEntries(entries) as Values);
}
