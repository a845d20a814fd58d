// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { loadCertificate, pemBlocks } from "../pki/index.ts";
import { encodeConfig } from "./document/config-file.ts";
import { isSection, type Section, type Value } from "./document/value.ts";
import type { MachineConfig } from "./machine-config.ts";
import { type FieldType, type Struct, structOf } from "./schema/schema.ts";
import { isHarmlessVariable, isHiddenField, isSecretName, isVariablesField } from "./schema/secret-fields.ts";

/** What stands in place of a secret. Talos reads it as a key that was left out on purpose. */
export const redacted = "******";

/** The same config with every secret replaced, fit for showing and logging. Throws when the config cannot be read. */
export function redactConfig(config: MachineConfig): string {
  return encodeConfig(
    config.decode().map((document) => ({ ...document, section: redactSection(document.section, document.struct) })),
    config.rules,
  );
}

function redactSection(section: Section, struct: Struct): Section {
  return new Map(
    [...section].map(([key, value]) => {
      const field = struct.byKey.get(key);
      if (value === "") return [key, value];
      const hidden = hiddenForm(struct.name, key, value);
      return [key, hidden ?? (field === undefined ? value : redactValue(value, field.type))];
    }),
  );
}

export function redactValue(value: Value, type: FieldType): Value {
  if (type.kind === "pointer") return redactValue(value, type.to);
  if (type.kind === "list" && Array.isArray(value)) return value.map((item) => redactValue(item, type.of));
  // Arguments and free sections have names of their own as well.
  if (type.kind !== "struct" && isSection(value)) {
    const inner = type.kind === "map" ? type.of : type;
    return new Map([...value].map(([key, item]) => [key, hiddenEntry(key, item, inner) ?? redactValue(item, inner)]));
  }
  return type.kind === "struct" && isSection(value) ? redactSection(value, structOf(type.name)) : hidePasswords(value);
}

/** What is shown of an entry of a map whose name says that it is a secret; undefined for all others. */
export function hiddenEntry(key: string, value: Value, type: FieldType): Value | undefined {
  // What stands there is shown field by field.
  const isSection = type.kind === "struct" || (type.kind === "pointer" && type.to.kind === "struct");
  return !isSection && isSecretName(key) ? hide(value) : undefined;
}

const passwordInUrl = /(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g;

/** Whether a text has a URL with a password in it, as those of proxies may. */
export function hasPassword(text: string): boolean {
  return text.replace(passwordInUrl, `$1${redacted}`) !== text;
}

/** Hides passwords in URLs, which may stand anywhere. */
export function hidePasswords(value: Value): Value {
  if (typeof value === "string") return value.replace(passwordInUrl, `$1${redacted}`);
  if (Array.isArray(value)) return value.map(hidePasswords);
  return isSection(value) ? new Map([...value].map(([key, inner]) => [key, hidePasswords(inner)])) : value;
}

/** Fields that hold whole files: how much there is tells one from another, and that it was not lost. */
const contents: ReadonlySet<string> = new Set(["content", "contents", "manifest"]);
const size = /^\*{6} \(\d+ bytes\)$/;

/** What is shown of a field that must not be shown as it is; undefined for all others. */
export function hiddenForm(struct: string, key: string, value: Value): Value | undefined {
  if (isHiddenField(struct, key)) return hideField(key, value);
  return isVariablesField(struct, key) ? hideVariables(value) : undefined;
}

/** Of a file its size, of an environment the names. */
function hideField(key: string, value: Value): Value {
  if (key === "environment" && Array.isArray(value)) return value.map(hideVariable);
  if (!contents.has(key) || typeof value !== "string") return hide(value);
  return value === redacted || size.test(value) ? value : `${redacted} (${Buffer.byteLength(value)} bytes)`;
}

function hideVariable(value: Value): Value {
  const name = typeof value === "string" ? /^[A-Za-z_][A-Za-z0-9_]*(?==)/.exec(value)?.[0] : undefined;
  return name === undefined ? hide(value) : `${name}=${redacted}`;
}

function hideVariables(value: Value): Value {
  if (!isSection(value)) return hide(value);
  const shown = (name: string, text: Value) => (isHarmlessVariable(name) ? hidePasswords(text) : hide(text));
  return new Map([...value].map(([name, text]) => [name, shown(name, text)]));
}

/** Keeps the shape, so that the result is still a config. */
function hide(value: Value): Value {
  if (Array.isArray(value)) return value.map(hide);
  if (isSection(value)) return new Map([...value].map(([key, inner]) => [key, hide(inner)]));
  return redacted;
}

/** A certificate in one line: subject, end and fingerprint. Undefined when the text, plain or in base64, is none. */
export function certificateSummary(text: string): string | undefined {
  const pem = text.startsWith("LS0tLS1CRUdJTi") ? Buffer.from(text, "base64").toString("utf8") : text;
  const blocks = pemBlocks(pem);
  if (blocks.length === 0 || blocks.some(({ label }) => label !== "CERTIFICATE")) return undefined;
  const hash = createHash("sha256");
  for (const { bytes } of blocks) hash.update(bytes);
  const fingerprint = `SHA-256 ${hash.digest("hex")}`;
  if (blocks.length > 1) return `${blocks.length} certificates, ${fingerprint}`;
  try {
    const { subject, validTo } = loadCertificate(pem);
    const name = (subject ?? "").split("\n").join(", ") || "without a subject";
    return `certificate ${name}, until ${new Date(validTo).toISOString().slice(0, 10)}, ${fingerprint}`;
  } catch {
    return `damaged certificate, ${fingerprint}`;
  }
}
