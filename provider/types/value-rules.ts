// SPDX-License-Identifier: Apache-2.0
import { isUnknown, type Validator } from "../framework/index.ts";

/** Whether the configuration has a value here. One that is not known yet may turn out to be null. */
export function isGiven(value: unknown): boolean {
  return value !== null && !isUnknown(value);
}

/** What to do where `on_destroy` is `prevent`. */
export const liftProtection =
  "To lift the protection, set on_destroy to another value (deletionProtection: false in an environment file) and apply that first.";

/** One of these words and no other. */
export const oneOf =
  (...allowed: readonly string[]): Validator<string> =>
  (value, path, diagnostics) => {
    if (allowed.includes(value)) return;
    const expected = allowed.map((item) => JSON.stringify(item)).join(" or ");
    diagnostics.error({
      summary: "Unknown value",
      detail: `Found ${JSON.stringify(value)}; expected ${expected}.`,
      path,
    });
  };

/** Text of this form, which `expected` says in words. */
export const shape =
  (form: RegExp, expected: string): Validator<string> =>
  (value, path, diagnostics) => {
    if (form.test(value)) return;
    diagnostics.error({
      summary: "Unknown value",
      detail: `Found ${JSON.stringify(value)}; expected ${expected}.`,
      path,
    });
  };

/** For those who can do nothing without a machine to ask. */
export const someEndpoint: Validator<readonly string[]> = (value, path, diagnostics) => {
  if (value.length > 0) return;
  diagnostics.error({
    summary: "No endpoint",
    detail: "Found an empty list; expected the address of one control plane at least.",
    path,
  });
};
