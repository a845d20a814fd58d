// SPDX-License-Identifier: Apache-2.0
import type { Rule } from "../plan.ts";

/** Networks (RFC 5737, RFC 3849) and domains (RFC 2606) that stand in examples and belong to nobody. */
const patterns: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/(?<![\d.])(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}(?:\/\d{1,2})?(?![\d.])/g, "a network of examples"],
  [/(?<![\w:])2001:db8:[\da-f:]*(?:\/\d{1,3})?/gi, "a network of examples"],
  [/(?<![\w-])example\.(?:com|net|org)(?![\w-])/gi, "a domain of examples"],
];

export const placeholderTitle = "Placeholder";

/** What was copied from an example and never replaced: it is nobody's, so nobody gets in, or no name is found. */
export const placeholderRule: Rule = ({ changes }) => {
  const found = new Map<string, { readonly what: string; readonly addresses: Set<string> }>();
  for (const { address, after } of changes) {
    for (const text of textsIn(after)) {
      for (const [pattern, what] of patterns) {
        for (const [match] of text.matchAll(pattern)) {
          const known = found.get(match) ?? { what, addresses: new Set() };
          found.set(match, { what, addresses: known.addresses.add(address) });
        }
      }
    }
  }
  return [...found].map(([match, { what, addresses }]) => {
    const [first = "", ...others] = addresses;
    const more = others.length === 0 ? "" : `, here and in ${others.length} more,`;
    return {
      level: "caution",
      title: placeholderTitle,
      address: first,
      sentence: `${match}${more} is ${what} and belongs to nobody: put your own in its place, in the environment's file or its base.`,
    };
  });
};

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) yield* textsIn(inner);
  }
}
