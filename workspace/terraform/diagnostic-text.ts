// SPDX-License-Identifier: Apache-2.0
// The text in which terraform and tofu tell warnings and errors to people.
import { given } from "../../talos/given.ts";

/** An error that Terraform tells, without its frame and its place in the generated stack. */
export interface ToldError {
  readonly summary: string;
  readonly detail: string;
  /** The resource that it is about. @default none, or it is not known */
  readonly address?: string;
}

/** Of a line, where terraform writes no terminal: it breaks a longer one between two words. */
const lineWidth = { plain: 77, framed: 75 };

/** Without the frame around each diagnostic, and how wide its lines were made. */
export function unframed(text: string): { readonly text: string; readonly width: number } {
  const width = text.startsWith("╷") ? lineWidth.framed : lineWidth.plain;
  return { text: text.replaceAll(/^[╷╵]\n?/gm, "").replaceAll(/^│ ?/gm, ""), width };
}

/**
 * Where a diagnostic stands in the generated stack, which no person wrote. Its lines are shown with all they hold: where a
 * patch has a secret, with that.
 */
export const diagnosticPlace =
  /^(?: {2}with (?<address>[^\n]+),\n)?(?: {2}on cdk\.tf\.json line [^\n]+:\n)(?: *\d+: [^\n]*\n?)*(?: {2,}(?:├|│|╵)[^\n]*\n?)*\n?/gm;

/** Joins lines where the first word of the next one would not have fitted. Terraform leaves indented lines as they are. */
export function withWholeLines(text: string, width: number): string {
  const lines = text.split("\n");
  return lines
    .map((line, index) => {
      const before = lines[index - 1];
      if (before === undefined) return line;
      const isBroken = /^\S/.test(before) && /^\S/.test(line) && before.length + 1 + line.search(/ |$/) > width;
      return `${isBroken ? " " : "\n"}${line}`;
    })
    .join("");
}

/** The errors in what a command of terraform prints. */
export function errorsIn(words: string): readonly ToldError[] {
  const { text, width } = unframed(words.trimStart());
  return text
    .split(/^Error: /m)
    .slice(1)
    .map((error) => {
      const [place] = error.matchAll(diagnosticPlace);
      const [summary = "", ...detail] = error.replaceAll(diagnosticPlace, "").trim().split(/\n\n+/);
      return {
        summary: withWholeLines(summary, width),
        detail: withWholeLines(detail.join("\n\n"), width),
        ...given({ address: place?.groups?.address }),
      };
    });
}
