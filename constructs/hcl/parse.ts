// SPDX-License-Identifier: Apache-2.0

/** An expression of HCL, as far as stacks need them. What is outside of that is `unreadable`. */
export type Expression =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "unreadable" }
  | { readonly kind: "template"; readonly parts: readonly Expression[] }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "access"; readonly of: Expression; readonly steps: readonly Step[] }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Expression[]; readonly expand: boolean }
  | { readonly kind: "tuple"; readonly items: readonly Expression[] }
  | { readonly kind: "object"; readonly items: readonly (readonly [key: Expression, value: Expression])[] }
  | ForExpression
  | { readonly kind: "unary"; readonly operator: "!" | "-"; readonly of: Expression }
  | { readonly kind: "binary"; readonly first: Expression; readonly rest: readonly Operation[] }
  | { readonly kind: "conditional"; readonly condition: Expression; readonly yes: Expression; readonly no: Expression };

/** `.name`, `[key]`, or a splat with the steps that it does for each element. */
export type Step =
  | { readonly kind: "key"; readonly key: Expression }
  | { readonly kind: "splat"; readonly steps: readonly Step[] };

export interface ForExpression {
  readonly kind: "for";
  readonly keyName: string | undefined;
  readonly valueName: string;
  readonly collection: Expression;
  /** Makes an object where there is one, else a tuple. */
  readonly key: Expression | undefined;
  readonly value: Expression;
  readonly condition: Expression | undefined;
}

/** Operators of one precedence stand in one list: a long chain is not a deep tree. */
export interface Operation {
  readonly operator: string;
  readonly right: Expression;
}

const precedence: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["==", "!="],
  ["<=", ">=", "<", ">"],
  ["+", "-"],
  ["*", "/", "%"],
];

/** Deeper nesting is unreadable rather than a stack overflow. */
const deepest = 100;

const identifier = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy;
const functionName = /[\p{ID_Start}_][\p{ID_Continue}-]*(?:::[\p{ID_Start}_][\p{ID_Continue}-]*)*(?=\s*\()/uy;
const number = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const blank = /(?:[ \t\r]+|#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;
const blankLines = /(?:\s+|#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;
const keywords: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" };

/** Text that is no expression of the subset; never leaves this file. */
class Unreadable extends Error {}

/** Reads a text of Terraform's JSON, which is a template. Never throws. */
export function parseTemplate(text: string): Expression {
  try {
    return new Parser(text).whole();
  } catch (error) {
    if (error instanceof Unreadable) return { kind: "unreadable" };
    throw error;
  }
}

/** Terraform's numbers have 512 bits; one with more digits than ours can hold is left alone. */
function exactNumber(digits: string): number {
  const significant = digits
    .replace(/[eE].*/, "")
    .replace(".", "")
    .replace(/^0+/, "");
  const value = Number(digits);
  if (significant.length > 15 || !Number.isFinite(value)) throw new Unreadable();
  return value;
}

class Parser {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  /** Whether a line break ends an item, which it does in an object and not in brackets inside of it. */
  #linesCount = false;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Expression {
    return this.#template(undefined);
  }

  /** Literal text and `${…}`, up to the closing quote of an HCL text or to the end of a JSON text. */
  #template(quote: '"' | undefined): Expression {
    const parts: Expression[] = [];
    let literal = "";
    const flush = () => {
      if (literal !== "") parts.push({ kind: "literal", value: literal.normalize() });
      literal = "";
    };
    while (this.#text[this.#at] !== quote) {
      const marks = this.#match(/\$+\{?|%+\{?/y);
      if (marks === "${") {
        flush();
        parts.push(this.#inBrackets(() => this.#expression(), "}"));
      } else if (marks?.endsWith("{")) {
        if (marks === "%{") throw new Unreadable();
        // Of more marks than the escapes `$${` and `%%{` have, Terraform takes one away, too.
        literal += marks.slice(1);
      } else {
        const plain = marks ?? this.#match(quote === undefined ? /[^$%]+/y : /[^$%"\\\n]+/y);
        literal += plain ?? this.#escape();
      }
    }
    flush();
    this.#at += 1;
    const [first = { kind: "literal", value: "" } as const] = parts;
    return parts.length <= 1 ? first : { kind: "template", parts };
  }

  /** Only in an HCL text: in JSON's, the reader of the JSON has done it. */
  #escape(): string {
    if (this.#match(/\\/y) === undefined) throw new Unreadable();
    const code = this.#match(/u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}/y);
    if (code !== undefined) {
      const point = Number.parseInt(code.slice(1), 16);
      if (point > 0x10ffff) throw new Unreadable();
      return String.fromCodePoint(point);
    }
    const named = escapes[this.#text[this.#at] ?? ""];
    if (named === undefined) throw new Unreadable();
    this.#at += 1;
    return named;
  }

  #expression(): Expression {
    return this.#deeper<Expression>(() => {
      const condition = this.#binary(0);
      if (!this.#take("?")) return condition;
      const yes = this.#expression();
      this.#expect(":");
      return { kind: "conditional", condition, yes, no: this.#expression() };
    });
  }

  #binary(level: number): Expression {
    const operators = precedence[level];
    if (operators === undefined) return this.#unary();
    const first = this.#binary(level + 1);
    const rest: Operation[] = [];
    for (;;) {
      const operator = operators.find((candidate) => this.#take(candidate));
      if (operator === undefined) return rest.length === 0 ? first : { kind: "binary", first, rest };
      rest.push({ operator, right: this.#binary(level + 1) });
    }
  }

  #unary(): Expression {
    const operator = (["!", "-"] as const).find((candidate) => this.#take(candidate));
    if (operator === undefined) return this.#access();
    return { kind: "unary", operator, of: this.#deeper(() => this.#unary()) };
  }

  #access(): Expression {
    const of = this.#term();
    const steps = this.#steps();
    return steps.length === 0 ? of : { kind: "access", of, steps };
  }

  #steps(step = () => this.#attribute() ?? this.#index()): readonly Step[] {
    const steps: Step[] = [];
    for (let next = step(); next !== undefined; next = step()) steps.push(next);
    return steps;
  }

  /** `.name`, `.0`, or `.*`, which takes only the attributes after it for each element. */
  #attribute(): Step | undefined {
    if (this.#ahead("...") || !this.#take(".")) return undefined;
    if (this.#take("*")) return { kind: "splat", steps: this.#deeper(() => this.#steps(() => this.#attribute())) };
    this.#skip();
    const name = this.#match(identifier) ?? this.#match(/\d+/y);
    if (name === undefined) throw new Unreadable();
    return { kind: "key", key: { kind: "literal", value: name } };
  }

  #index(): Step | undefined {
    if (!this.#take("[")) return undefined;
    if (!this.#take("*")) return { kind: "key", key: this.#inBrackets(() => this.#expression(), "]") };
    this.#expect("]");
    return { kind: "splat", steps: this.#deeper(() => this.#steps()) };
  }

  #term(): Expression {
    this.#skip();
    if (this.#match(/"/y) !== undefined) return this.#template('"');
    if (this.#take("(")) return this.#inBrackets(() => this.#expression(), ")");
    if (this.#take("[")) return this.#inBrackets(() => this.#for("]") ?? this.#tuple(), "]");
    if (this.#take("{")) return this.#inBrackets(() => this.#for("}") ?? this.#object(), "}");
    const digits = this.#match(number);
    if (digits !== undefined) return { kind: "literal", value: exactNumber(digits) };
    const called = this.#match(functionName);
    if (called !== undefined) return this.#call(called);
    const name = this.#match(identifier);
    if (name === undefined) throw new Unreadable();
    const value = keywords.get(name);
    return value === undefined ? { kind: "name", name } : { kind: "literal", value };
  }

  #call(name: string): Expression {
    this.#expect("(");
    return this.#inBrackets<Expression>(() => {
      const args: Expression[] = [];
      let expand = false;
      while (!expand && !this.#ahead(")")) {
        args.push(this.#expression());
        expand = this.#take("...");
        if (!this.#take(",")) break;
      }
      return { kind: "call", name, args, expand };
    }, ")");
  }

  #tuple(): Expression {
    const items: Expression[] = [];
    while (!this.#ahead("]")) {
      items.push(this.#expression());
      if (!this.#take(",")) break;
    }
    return { kind: "tuple", items };
  }

  #object(): Expression {
    const items: (readonly [Expression, Expression])[] = [];
    while (!this.#ahead("}")) {
      this.#linesCount = true;
      const key = this.#key();
      if (!this.#take("=") && !this.#take(":")) throw new Unreadable();
      items.push([key, this.#expression()]);
      this.#skip();
      const separated = this.#match(/,|\n/y) !== undefined;
      this.#linesCount = false;
      if (!separated) break;
    }
    return { kind: "object", items };
  }

  /** A bare name is a text here, even `true`; anything but a text and a number needs parentheses. */
  #key(): Expression {
    this.#skip();
    const name = this.#match(identifier) ?? this.#match(number);
    if (name !== undefined) return { kind: "literal", value: name };
    if (this.#match(/"/y) !== undefined) return this.#template('"');
    this.#expect("(");
    return this.#inBrackets(() => this.#expression(), ")");
  }

  /** `for key, value in collection : … if …` up to the closing bracket; undefined when none begins here. */
  #for(close: "]" | "}"): ForExpression | undefined {
    this.#skip();
    if (this.#match(/for(?![\p{ID_Continue}-])/uy) === undefined) return undefined;
    const names = [this.#name()];
    if (this.#take(",")) names.push(this.#name());
    if (this.#name() !== "in") throw new Unreadable();
    const collection = this.#expression();
    this.#expect(":");
    const first = this.#expression();
    let value = first;
    if (close === "}") {
      this.#expect("=>");
      value = this.#expression();
    }
    this.#skip();
    const condition = this.#match(/if(?![\p{ID_Continue}-])/uy) === undefined ? undefined : this.#expression();
    const [keyName, valueName = ""] = names.length === 2 ? names : [undefined, ...names];
    return { kind: "for", keyName, valueName, collection, key: close === "}" ? first : undefined, value, condition };
  }

  #name(): string {
    this.#skip();
    const name = this.#match(identifier);
    if (name === undefined) throw new Unreadable();
    return name;
  }

  #deeper<T>(parse: () => T): T {
    this.#depth += 1;
    if (this.#depth > deepest) throw new Unreadable();
    const result = parse();
    this.#depth -= 1;
    return result;
  }

  #inBrackets<T>(parse: () => T, close: string): T {
    const outside = this.#linesCount;
    this.#linesCount = false;
    const result = parse();
    this.#expect(close);
    this.#linesCount = outside;
    return result;
  }

  #skip(): void {
    this.#match(this.#linesCount ? blank : blankLines);
  }

  #ahead(symbol: string): boolean {
    this.#skip();
    return this.#text.startsWith(symbol, this.#at);
  }

  /** Takes the symbol unless a longer one begins there, such as `==` where `=` is asked for. */
  #take(symbol: string): boolean {
    if (!this.#ahead(symbol)) return false;
    const after = this.#text[this.#at + symbol.length];
    if ((symbol === "=" || symbol === "!") && after === "=") return false;
    if (symbol === "=" && after === ">") return false;
    this.#at += symbol.length;
    return true;
  }

  #expect(symbol: string): void {
    if (!this.#take(symbol)) throw new Unreadable();
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}
