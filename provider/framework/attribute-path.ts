// SPDX-License-Identifier: Apache-2.0

export type PathStep =
  | { readonly kind: "attribute"; readonly name: string }
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
