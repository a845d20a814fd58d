// SPDX-License-Identifier: Apache-2.0

const hidden = "******";

/** Words that end the name of a field whose value nobody else should see. */
const secretKey = `["']?[\\w.-]{0,40}(?:secret|token|password|passphrase|credential|key|content|contents|manifest)["']?`;
const doubleQuoted = `"(?:[^"\\\\\\n]|\\\\.)*"`;
const singleQuoted = "'(?:[^'\\n]|'')*'";
/** Wherever it stands: up to the end of its quotes, or of its word. */
const inline = new RegExp(
  `(["']?\\b${secretKey}\\s*[:=]\\s*)(${doubleQuoted}|${singleQuoted}|[^\\s,}\\]"'|>][^\\s,}\\]]*)`,
  "gi",
);
/** At the beginning of a line, also of one inside of JSON: a plain value goes to the end of that line. */
const wholeLine = new RegExp(
  `((?:^|\\\\n)[ \\t]*(?:- +)*${secretKey}[ \\t]*[:=][ \\t]+)(?!["'|>{[]|\\*{6}|\\\\n)((?:(?!\\\\n)\\S)(?:(?!\\\\n).)*)`,
  "gim",
);
const block = new RegExp(
  `^([ \\t]*(?:- +)*)(${secretKey}\\s*:\\s*)(?:([|>][-+0-9]*)|"(?:[^"\\\\]|\\\\.)*|'(?:[^']|'')*)\\s*$`,
  "i",
);
/** Variables of a machine, a container or a service, whatever they are named: below the word, or in brackets behind it. */
const variablesKey = `["']?(?:env|environment|variables)["']?`;
const variables = new RegExp(`^([ \\t]*(?:- +)*)${variablesKey}[ \\t]*:[ \\t]*$`);
const inlineVariables = new RegExp(
  `(["']?\\b${variablesKey}\\s*:\\s*)(?:\\[(?:${doubleQuoted}|${singleQuoted}|[^\\]"']){0,2000}\\]?|\\{(?:${doubleQuoted}|${singleQuoted}|[^}"']){0,2000}\\}?)`,
  "g",
);
const privateKey = /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----[\s\S]*?-----END \1-----/g;
/** Base64 of a PEM block, as configs and kubeconfigs hold keys. */
const encodedPem = /LS0tLS1CRUdJTi[A-Za-z0-9+/=]+/g;
const joinToken = /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g;
const ageKey = /AGE-SECRET-KEY-1[0-9A-Z]+/g;
/** `https://user:password@host` */
const userInfo = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@[]{0,100}:)[^\s/@]{1,200}(?=@)/gi;
const authorization = /\b(authorization["']?\s*[:=]\s*["']?(?:\w+ +)?|bearer +)[\w.~+/=-]{8,}/gi;

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
    .replace(userInfo, `$1${hidden}`)
    .replace(authorization, `$1${hidden}`)
    .replace(inlineVariables, `$1${hidden}`)
    .replace(wholeLine, `$1${hidden}`)
    .replace(inline, `$1${hidden}`);
}

/** A block of text below such a field, or quotes that it opens and does not close: every line that is deeper than it. */
function withoutBlocks(text: string): string {
  let depth: number | undefined;
  let isList = false;
  return text
    .split("\n")
    .flatMap((line) => {
      const column = line.search(/\S/);
      // A list may stand right below its key.
      const inside = depth !== undefined && (column > depth || (isList && column === depth && /^\s*-( |$)/.test(line)));
      if (depth !== undefined && (inside || line.trim() === "")) return [];
      const [, before] = variables.exec(line) ?? [];
      isList = before !== undefined;
      depth = before?.length;
      if (depth !== undefined) return [line, `${" ".repeat(depth)}  ${hidden}`];
      const [, indent, field, sign] = block.exec(line) ?? [];
      depth = indent?.length;
      if (depth === undefined) return [line];
      return sign === undefined ? [`${indent}${field}${hidden}`] : [line, `${" ".repeat(depth)}  ${hidden}`];
    })
    .join("\n");
}
