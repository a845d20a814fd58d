// SPDX-License-Identifier: Apache-2.0

export interface CodeBlock {
  readonly language: string;
  /** What follows the language in the opening line. */
  readonly info: string;
  readonly content: string;
}

/** The fenced blocks of a page, in order. */
export function codeBlocks(markdown: string): readonly CodeBlock[] {
  return [...markdown.matchAll(/^```(\w*)[ \t]*([^\n]*)\n([\s\S]*?)^```/gm)].map(
    ([, language = "", info = "", content = ""]) => ({ language, info: info.trim(), content }),
  );
}

/** Lines that a reader would type: in blocks of shell, and indented by four spaces. */
export function commandLines(markdown: string): readonly string[] {
  const fenced = codeBlocks(markdown)
    .filter(({ language }) => language === "sh")
    .flatMap(({ content }) => content.split("\n"));
  const indented = [...markdown.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^ {4}((?:npx )?talosmith .+)$/gm)];
  return [...fenced, ...indented.map(([, line = ""]) => line)].map((line) => line.trim()).filter((line) => line !== "");
}
