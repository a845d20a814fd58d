// SPDX-License-Identifier: Apache-2.0
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * What an app printed when it failed, as a sentence with the place in the project's own code, without the stack: for an
 * error that Node, tsx or the CDK has printed. What is no such error stays whole.
 */
export function appFailure(output: string, root: string): string {
  const [, message] =
    /^(?:Uncaught )?(?:\w+Error|Error)(?: \[\w+\])?: ([\s\S]*?)\s*(?:\n\s+at |\nNode\.js v|$(?![\s\S]))/m.exec(
      output,
    ) ?? [];
  if (message === undefined) return output.trim();
  const place = placeIn(output, root);
  return place === undefined ? message : `${place}: ${message}`;
}

/** The innermost line of the project's own code, such as `main.ts:5:3`. */
function placeIn(output: string, root: string): string | undefined {
  const frames = output.matchAll(/^\s+at (?:.*\()?((?:file:\/\/)?\/[^()\n]+?):(\d+):(\d+)\)?$/gm);
  for (const [, file = "", line, column] of frames) {
    const path = relative(root, file.startsWith("file:") ? fileURLToPath(file) : file);
    if (!path.startsWith("..") && !/(^|\/)node_modules\//.test(path)) return `${path}:${line}:${column}`;
  }
  return undefined;
}
