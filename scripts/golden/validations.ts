// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonFile } from "./files.ts";
import { modes, type Talosctl } from "./talosctl.ts";

interface ValidationCase {
  readonly id: string;
  readonly config: string;
  readonly strict: boolean;
}

interface Texts {
  readonly documents?: readonly { readonly config: string }[];
}

/**
 * How a release judges the validation cases, which were first made with 1.13.9, and, in metal mode, the texts that its
 * own file lists under `documents`.
 */
export function makeValidations(talosctl: Talosctl, golden: string): number {
  const path = join(golden, `validate/talos-${talosctl.minor}.json`);
  const rows: readonly ValidationCase[] = JSON.parse(readFileSync(join(golden, "validate/index.json"), "utf8"));
  const texts: Texts = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  const cases = rows.map(({ id, config, strict }) => {
    const text = readFileSync(join(golden, config), "utf8");
    return [id, Object.fromEntries(modes.map((mode) => [mode, talosctl.validate(text, mode, strict)]))] as const;
  });
  const documents = (texts.documents ?? []).map(({ config }) => ({ config, ...talosctl.validate(config, "metal") }));
  const result = { release: talosctl.version, cases: Object.fromEntries(cases), documents };
  writeFileSync(path, jsonFile(result));
  return cases.length * modes.length + documents.length;
}
