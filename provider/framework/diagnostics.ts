// SPDX-License-Identifier: Apache-2.0

/** What a person reads. `summary` is a title without full stop; `detail` says the cause and what to do. */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  readonly summary: string;
  readonly detail: string;
  readonly path?: AttributePath;
}

export type Finding = Omit<Diagnostic, "severity">;

/** The way out of any operation that can't go on. Thrown by resources, never seen by Terraform as an exception. */
export class DiagnosticError extends Error {
  override readonly name = "DiagnosticError";
  readonly finding: Finding;

  constructor(finding: Finding, options?: ErrorOptions) {
    super(`${finding.summary}: ${finding.detail}`, options);
    this.finding = finding;
  }
}

/** Collects what an operation has to say, so that one run reports every fault and not only the first. */
export class Diagnostics {
  readonly #list: Diagnostic[] = [];

  error(finding: Finding): void {
    this.#list.push({ severity: "error", ...finding });
  }

  warning(finding: Finding): void {
    this.#list.push({ severity: "warning", ...finding });
  }

  get hasError(): boolean {
    return this.#list.some((diagnostic) => diagnostic.severity === "error");
  }

  get list(): readonly Diagnostic[] {
    return this.#list;
  }
}

/** Turns what was thrown into a finding; undefined: the translator does not know this kind of error. */
export type ErrorTranslator = (error: unknown) => Finding | undefined;

/** Any thrown thing as an error diagnostic. What nobody recognises is our fault, and says so. */
export function diagnosticOf(error: unknown, translate?: ErrorTranslator): Diagnostic {
  const finding = error instanceof DiagnosticError ? error.finding : translate?.(error);
  if (finding !== undefined) return { severity: "error", ...finding };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    severity: "error",
    summary: "Fault in the provider",
    detail: `This is a fault of the provider and not of your configuration. Please report it with these lines:\n\n${text}`,
  };
}

export type PathStep =
  /** `block`: it is written as a block, of which Terraform finds the lines inside. */
  | { readonly kind: "attribute"; readonly name: string; readonly block?: true }
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "index"; readonly index: number };

/** Where in a configuration something is: `path("machines").key("cp-1").attribute("role")`. */
export class AttributePath {
  readonly steps: readonly PathStep[];

  constructor(steps: readonly PathStep[] = []) {
    this.steps = steps;
  }

  attribute(name: string): AttributePath {
    return new AttributePath([...this.steps, { kind: "attribute", name }]);
  }

  /** A block, that may be repeated in order or by name: `path` of what is inside then leads to its line. */
  block(name: string): AttributePath {
    return new AttributePath([...this.steps, { kind: "attribute", name, block: true }]);
  }

  key(key: string): AttributePath {
    return new AttributePath([...this.steps, { kind: "key", key }]);
  }

  index(index: number): AttributePath {
    return new AttributePath([...this.steps, { kind: "index", index }]);
  }

  /** The path as it is written in the language: `machines["cp-1"].role`. */
  toString(): string {
    return this.steps
      .map((step, position) => {
        if (step.kind === "attribute") return position === 0 ? step.name : `.${step.name}`;
        return step.kind === "key" ? `[${JSON.stringify(step.key)}]` : `[${step.index}]`;
      })
      .join("");
  }
}

export function path(attribute: string): AttributePath {
  return new AttributePath().attribute(attribute);
}
