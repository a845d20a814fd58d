// SPDX-License-Identifier: Apache-2.0

// Every pattern here takes time in proportion to the text, whatever the text is: names begin where no character of a
// name stands before them, so that a long one is read once, and what is not closed ends with its line or at the end.

const hidden = "******";

/** A name, with or without quotes, and the sign before its value. */
const name = "(?<![\\w.-])([\\w.-]+)";
const doubleQuoted = `"(?:[^"\\\\\\n]|\\\\.)*"`;
const singleQuoted = "'(?:[^'\\n]|'')*'";

/** Words that end the name of a field whose value nobody else should see. */
const secretEnd =
  /(?:secret|token|passw(?:or)?d|passphrase|pass|pwd|psk|credentials?|auth|key|contents?|manifest|cookie|authorization)$/i;
/** In a variable, such as DB_PASS_RO or SECRET_KEY_BASE, also in the middle. */
const isSecret = (field: string, sign: string) =>
  secretEnd.test(field) ||
  ((sign.includes("=") || /^[A-Z0-9_]+$/.test(field)) && /pass|secret|token|credential/i.test(field));

/** Quotes inside of a text in JSON have backslashes before them. */
const assignment = new RegExp(`${name}((?:\\\\*["'])?\\s*[:=]\\s*)`, "g");
/** `--password x`, and the same as a list of words. */
const flag = /(?<![\w.-])(-[\w.-]+)(["'],\s*|[ \t]+)/g;
/** Wherever it stands: up to the end of its quotes, or of its word. */
/** Up to the quote with as many backslashes as the first one. */
const escapedQuoted = `(\\\\+)"(?:[^"\\\\\\n]|\\\\+(?!["\\\\])|(?!\\1")\\\\+")*`;
const value = new RegExp(`${escapedQuoted}|${doubleQuoted}|${singleQuoted}|[^\\s,}\\]"'|>{[][^\\s,}\\]]*`, "y");
/** At the beginning of a line, also of one inside of JSON: a plain value goes to the end of that line. */
const wholeLine =
  /((?:^|\\n)[ \t]*(?:- +)*["']?)([\w.-]+)(["']?[ \t]*[:=][ \t]+)(?!["'|>{[]|\*{6}|\\n)((?:(?!\\n)\S)(?:(?!\\n).)*)/gim;
const block = /^([ \t]*(?:- +)*)(["']?)([\w.-]+)(["']?\s*:\s*)(?:([|>][-+0-9]*)\s*|"(?:[^"\\]|\\.)*|'(?:[^']|'')*)$/;
/** Variables of a machine, a container or a service, whatever they are named: below the word, or in brackets behind it. */
const variablesKey = `["']?(?:env|environment|variables)["']?`;
const variables = new RegExp(`^([ \\t]*(?:- +)*)${variablesKey}[ \\t]*:[ \\t]*$`);
const inlineVariables = new RegExp(
  `(["']?\\b${variablesKey}\\s*:\\s*)(?:\\[(?:${doubleQuoted}|${singleQuoted}|[^\\]"'])*\\]?|\\{(?:${doubleQuoted}|${singleQuoted}|[^}"'])*\\}?)`,
  "g",
);
/** One whose end was cut off as well. */
const privateKey =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:(?!-----)[\s\S])*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?/g;
/** Base64 of a PEM block, as configs and kubeconfigs hold keys. */
const encodedPem = /LS0tLS1CRUdJTi[A-Za-z0-9+/=]+/g;
const joinToken = /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g;
const ageKey = /AGE-SECRET-KEY-1[0-9A-Z]+/g;
const jsonWebToken = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g;
/** An id of AWS, with the secret that stands behind it. */
const awsKey = /(?<![A-Z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Z0-9])(?:[\s:,"']{1,5}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+]))?/g;
/** Tokens of forges, registries and clouds, by what they begin with. */
const knownToken = new RegExp(
  `(?<![\\w-])(?:${[
    "gh[pousr]_", // GitHub
    "github_pat_",
    "gl[a-z]{2,6}-", // GitLab
    "npm_",
    "dckr_[a-z]{2,4}_", // Docker Hub
    "xox[a-z]-", // Slack
    "xapp-",
    "hf_", // Hugging Face
    "pypi-",
    "rubygems_",
    "sk-",
    "[prs]k_(?:live|test)_", // Stripe
    "whsec_",
    "AIza", // Google
    "ya29\\.",
    "dop_v1_", // DigitalOcean
    "hvs\\.", // Vault
    "tskey-", // Tailscale
    "ops_", // 1Password
  ].join("|")})[\\w.-]{16,}`,
  "g",
);
/** `https://user:password@host` */
const userInfo = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@[]{0,100}:)[^\s/@]{1,200}(?=@)/gi;
/** `-u user:password`, as curl has it, also in quotes and as a list of words. */
const userFlag =
  /(?<![\w.-])((?:-u|--(?:proxy-)?user)(?:["'],\s*|[ \t]+|=)?)(?:(["'])([^\s:"']{1,100}:)[^"'\n]+|([^\s:"']{1,100}:)[^\s"']+)/gi;
/** Headers that prove who asks: to the end of the line, or of its quotes or brackets. */
const header = new RegExp(
  `\\b((?:proxy-)?authorization|(?:set-)?cookie2?)(["']?[ \\t]*[:=][ \\t]*\\[?)(${doubleQuoted}|${singleQuoted}|[^\\s"'\\]][^\\r\\n"'\\]]*)`,
  "gi",
);
const bearer = /\b(bearer +)[\w.~+/=-]{8,}/gi;

/**
 * Replaces what looks like a secret in a text of any origin: keys, tokens, and the values of fields that are named as
 * such. Rather too much than too little: the text is for strangers.
 */
export function redactText(text: string): string {
  const plain = withoutBlocks(text)
    .replace(privateKey, hidden)
    .replace(encodedPem, hidden)
    .replace(ageKey, hidden)
    .replace(joinToken, hidden)
    .replace(jsonWebToken, hidden)
    .replace(awsKey, hidden)
    .replace(knownToken, hidden)
    .replace(userInfo, `$1${hidden}`)
    .replace(userFlag, `$1$2$3$4${hidden}`)
    .replace(header, `$1$2${hidden}`)
    .replace(bearer, `$1${hidden}`)
    .replace(inlineVariables, `$1${hidden}`)
    .replace(wholeLine, (line: string, before: string, field: string, sign: string) =>
      isSecret(field, sign) ? `${before}${field}${sign}${hidden}` : line,
    );
  return withoutValues(withoutValues(plain, assignment), flag);
}

/** Hides what follows the names of secrets. What is inside of another field's value is looked at too. */
function withoutValues(text: string, named: RegExp): string {
  let result = "";
  let done = 0;
  for (const { 0: whole, 1: field = "", 2: sign = "", index } of text.matchAll(named)) {
    if (index < done || !isSecret(field, sign)) continue;
    value.lastIndex = index + whole.length;
    const found = value.exec(text)?.[0];
    // On the next line it may be the first field of a mapping.
    if (found === undefined || (sign.includes("\n") && found.endsWith(":"))) continue;
    result += text.slice(done, index + whole.length) + hidden;
    done = index + whole.length + found.length;
  }
  return result + text.slice(done);
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
      const [, indent = "", quote = "", field = "", colon = "", sign] = block.exec(line) ?? [];
      if (!isSecret(field, colon)) return [line];
      depth = indent.length;
      return sign === undefined
        ? [`${indent}${quote}${field}${colon}${hidden}`]
        : [line, `${" ".repeat(depth)}  ${hidden}`];
    })
    .join("\n");
}
