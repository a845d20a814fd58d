// SPDX-License-Identifier: Apache-2.0
import { pageItems } from "../support/pages.ts";

/** A snippet of a page, by its language and its place among those of that language. */
export function snippetOf(page: string, language: string, index = 0): string {
  const found = pageItems(page).filter((item) => !item.command && item.language === language)[index];
  if (found === undefined) throw new Error(`${page} has no ${language} block number ${index + 1}`);
  return found.text;
}
