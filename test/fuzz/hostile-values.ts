// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import type { Random } from "./random.ts";

export type Data = null | boolean | number | string | readonly Data[] | { readonly [key: string]: Data };

/** Names that mean something to JavaScript, YAML, Go or a file system. */
export const hostileKeys = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "<<",
  "",
  " ",
  "$patch",
  "kind",
  "name",
  "count",
  "0",
  "-1",
  "null",
  "true",
  "a.b",
  "a/b",
  "~1",
  "é",
  "\u202e",
  "\ud800",
  "x".repeat(300),
] as const;

export const hostileTexts = [
  "",
  " ",
  "\n",
  "\0",
  "\ufeff",
  "\r\n",
  "\t",
  "\u0085",
  "\u2028",
  "\u202eevil",
  "\ud800",
  "💥",
  "ﬀ",
  "İ",
  "a\u0300".repeat(40),
  "x".repeat(2000),
  "{{hostname}}",
  "{{{hostname}}}",
  "{{#each nameservers}}{{this}}{{/each}}",
  "{{> partial}}",
  "{{constructor}}",
  "${x}",
  "%{x}",
  "$(id)",
  "`id`",
  "../x",
  "/",
  "./.",
  "a: b",
  "a: [",
  "- a",
  "# c",
  "---",
  "...",
  "*a",
  "&a",
  "!!js/function",
  "!tag",
  "|",
  ">",
  "'",
  '"',
  "\\",
  "~",
  "null",
  "yes",
  "010",
  "0x7f",
  "1_000",
  "1e400",
  ".nan",
  "-.inf",
  "2001-01-01",
  "12:30:45",
  "9".repeat(400),
  "1e-999999999",
  "10.0.0.0/8",
  "0.0.0.0/0",
  "10.0.0.300",
  "10.0.0.0/33",
  "::/0",
  "::ffff:1.2.3.4/96",
  "fe80::1%eth0",
  "v9",
  "v1.13.9",
  "1.36",
  "1.2.3-rc.1+build",
  "4GiB",
  "-1GB",
  "1e9GB",
  "1h-2m",
  "9999999999h",
  "https://[::1",
  "https://user:pw@host:99999/?#",
  "disk.size > 1u",
  "((((((((",
  "00:11:22:33:44:55:66",
  "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
  "LS0tLS1CRUdJTi",
] as const;

const hostileNumbers = [0, -0, 1, -1, 0.1, 65_536, 2 ** 31, 2 ** 53, -(2 ** 63), 1e21, 1e308, 5e-324] as const;

/** Values that fast-check thinks up, taken once: making each anew would be most of a run's time. */
const invented: readonly Data[] = fc
  .sample(fc.jsonValue({ maxDepth: 3 }), { numRuns: 200, seed: 20261116 })
  .map((value) => value as Data);

/** One value that nobody sane would write. */
export function hostileData(random: Random): Data {
  switch (random.below(8)) {
    case 0:
      // A copy: what is put into an input may be changed there, and the next input must not know of it.
      return structuredClone(random.pick(invented));
    case 1:
      return random.pick(hostileNumbers);
    case 2:
      return random.pick<Data>([null, true, false, [], {}, [[]], [{}], [null], { "": null }]);
    case 3:
      return { [random.pick(hostileKeys)]: random.pick(hostileTexts) };
    case 4:
      return Array.from({ length: random.below(40) }, () => random.pick(hostileTexts));
    default:
      return random.pick(hostileTexts);
  }
}

/** Deeper than anything that is taken; three of them in each other can still be copied. */
export function deep(random: Random): Data {
  let value: Data = "x";
  for (let depth = random.pick([5, 90, 110, 700]); depth > 0; depth -= 1)
    value = random.chance(0.5) ? [value] : { a: value };
  return value;
}
