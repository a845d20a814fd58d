// SPDX-License-Identifier: Apache-2.0

const hidden = "******";

/** Words that end the name of a field whose value nobody else should see. */
const secretKey = "[\\w.-]{0,40}(?:secret|token|password|passphrase|credential|key|content|contents)";
const inline = new RegExp(
  `(["']?\\b${secretKey}["']?\\s*[:=]\\s*)("[^"\\n]*"|'[^'\\n]*'|[^\\s,}\\]"'|>][^\\s,}\\]]*)`,
  "gi",
);
const block = new RegExp(`^([ \\t]*(?:- +)*)["']?${secretKey}["']?\\s*:\\s*[|>][-+0-9]*\\s*$`, "i");
const privateKey = /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----[\s\S]*?-----END \1-----/g;
/** Base64 of a PEM block, as configs and kubeconfigs hold keys. */
const encodedPem = /LS0tLS1CRUdJTi[A-Za-z0-9+/=]+/g;
const joinToken = /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g;
const ageKey = /AGE-SECRET-KEY-1[0-9A-Z]+/g;

/**
 * Replaces what looks like a secret in a text of any origin: keys, tokens, and the values of fields that are named as
 * such. Rather too much than too little: the text is for strangers.
 */
export function redactText(text: string): string {
  return withoutBlocks(text)
    .replace(privateKey, hidden)
    .replace(encodedPem, hidden)
    .replace(ageKey, hidden)
    .replace(joinToken, hidden)
    .replace(inline, `$1${hidden}`);
}

/** A block of text below such a field: every line that is deeper than the field. */
function withoutBlocks(text: string): string {
  let depth: number | undefined;
  return text
    .split("\n")
    .flatMap((line) => {
      if (depth !== undefined && (line.trim() === "" || line.search(/\S/) > depth)) return [];
      depth = block.exec(line)?.[1]?.length;
      return depth === undefined ? [line] : [line, `${" ".repeat(depth)}  ${hidden}`];
    })
    .join("\n");
}
