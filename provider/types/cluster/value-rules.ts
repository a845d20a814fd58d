// SPDX-License-Identifier: Apache-2.0
import { type AttributePath, type Diagnostics, parseDuration, type Validator } from "../../framework/index.ts";

export const oneOf =
  (...allowed: readonly string[]): Validator<string> =>
  (value, path, diagnostics) => {
    if (allowed.includes(value)) return;
    const detail = `Found ${JSON.stringify(value)}; expected ${allowed.map((item) => JSON.stringify(item)).join(" or ")}.`;
    diagnostics.error({ summary: "Unknown value", detail, path });
  };

function misshapen(value: string, expected: string, path: AttributePath, diagnostics: Diagnostics): void {
  diagnostics.error({
    summary: "Unknown value",
    detail: `Found ${JSON.stringify(value)}; expected ${expected}.`,
    path,
  });
}

export const shape =
  (form: RegExp, expected: string): Validator<string> =>
  (value, path, diagnostics) => {
    if (!form.test(value)) misshapen(value, expected, path, diagnostics);
  };

export const durationShape: Validator<string> = (value, path, diagnostics) => {
  if (parseDuration(value) === undefined) misshapen(value, "a duration such as `90s` or `10m`", path, diagnostics);
};
