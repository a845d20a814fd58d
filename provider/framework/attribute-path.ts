// SPDX-License-Identifier: Apache-2.0

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
