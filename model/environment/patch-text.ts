// SPDX-License-Identifier: Apache-2.0
import { stringify } from "yaml";

/** The YAML of a patch that a file has as a mapping or as text. */
export const patchText = (patch: unknown): string =>
  typeof patch === "string" ? patch : stringify(patch, { sortMapEntries: true });
