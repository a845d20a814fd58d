// SPDX-License-Identifier: Apache-2.0
import { type Environment, listItems, patchLists, type ReadFile, withTexts } from "../model/index.ts";
import { redacted } from "../talos/config/index.ts";
import { redactPatchText } from "../talos/config/migrate/index.ts";
import { unifiedDiff } from "../talos/unified-diff.ts";

/** How one file changes. */
export interface FileDiff {
  readonly file: string;
  /** A unified diff with file header; secrets of patches are replaced on both sides. */
  readonly diff: string;
}

/** What a change of an environment's files looks like. */
export function fileDiffs(
  onDisk: ReadFile,
  environment: Environment,
  texts: ReadonlyMap<string, string>,
): readonly FileDiff[] {
  const changed = withTexts(onDisk, texts);
  return [...texts.keys()].sort().map((file) => {
    // All of a patch file is secret.
    if (environment.cluster.patchFiles.includes(file))
      return { file, diff: `--- a/${file}\n+++ b/${file}\n(a patch file: its content is secret and not shown)\n` };
    const [before, after] = [onDisk, changed].map((read) => withoutSecrets(file, environment, read));
    return { file, diff: `--- a/${file}\n+++ b/${file}\n${unifiedDiff(before ?? "", after ?? "")}` };
  });
}

function withoutSecrets(file: string, environment: Environment, read: ReadFile): string {
  const text = read(file) ?? "";
  const lists = patchLists(environment, read).filter((list) => list.file === file);
  const isEnvironment = lists.length > 0 || file.startsWith("environments/");
  if (!isEnvironment) return redactPatchText(text);
  const lines = text.split("\n");
  for (const { path } of lists)
    for (const item of listItems(text, file, path) ?? []) {
      const hidden = redactPatchText(item.text).split("\n");
      for (const [index, line] of item.text.split("\n").entries()) {
        const [at, shown] = [item.line - 1 + index, hidden[index] ?? redacted];
        if (shown === line) continue;
        const written = lines[at] ?? "";
        // A text in quotes is written in another way than it reads: then nothing of the line is shown.
        lines[at] = written.includes(line) ? written.replace(line, () => shown) : redacted;
      }
    }
  return lines.join("\n");
}
