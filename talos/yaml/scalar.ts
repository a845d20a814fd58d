// SPDX-License-Identifier: Apache-2.0

/** A floating-point number, kept apart from integers because Go writes the two differently (`1e+06`). */
export class YamlFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  toData(): number {
    return this.value;
  }

  /** Shortest form; an exponent of at least two digits from 1e+06 on and below 1e-04, as Go writes it. */
  toString(): string {
    if (Number.isNaN(this.value)) return ".nan";
    if (!Number.isFinite(this.value)) return this.value > 0 ? ".inf" : "-.inf";
    const [mantissa = "0", exponent = "0"] = this.value.toExponential().split("e");
    const power = Number(exponent);
    if (power >= -4 && power < 6) return expand(mantissa, power);
    return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
}

/** A scalar that is written exactly like this, without quotes: a time, or a number to another base. */
export class YamlPlain {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toData(): string {
    return this.text;
  }
}

export type ScalarValue = string | number | bigint | boolean | null | YamlFloat | YamlPlain;

const words = new Map<string, ScalarValue>([
  ["", null],
  ["~", null],
  ["null", null],
  ["Null", null],
  ["NULL", null],
  ["true", true],
  ["True", true],
  ["TRUE", true],
  ["false", false],
  ["False", false],
  ["FALSE", false],
  ...[".nan", ".NaN", ".NAN"].map((word): [string, ScalarValue] => [word, new YamlFloat(Number.NaN)]),
  ...[".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"].map((word): [string, ScalarValue] => [
    word,
    new YamlFloat(Number.POSITIVE_INFINITY),
  ]),
  ...["-.inf", "-.Inf", "-.INF"].map((word): [string, ScalarValue] => [word, new YamlFloat(Number.NEGATIVE_INFINITY)]),
]);

const integer = /^([-+]?)(0x[0-9a-fA-F]+|0b[01]+|0o?[0-7]+|0|[1-9][0-9]*)$/;
const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const timestamp =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]|[ ]+)(\d{1,2}):(\d{2}):(\d{2})(?:\.(\d*))?\s*(Z|[-+]\d{1,2}(?::?\d{2})?)?)?$/;

/** What a plain scalar means to Go's YAML library, whose rules are a mixture of YAML 1.1 and 1.2. */
export function resolvePlainScalar(text: string): ScalarValue {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text)) return text;
  const digits = text.replaceAll("_", "");
  const whole = resolveInteger(digits);
  if (whole !== undefined) return whole;
  if (float.test(digits)) return new YamlFloat(Number(digits));
  return resolveTime(text) ?? text;
}

/** A word that older YAML read as a boolean; it is quoted when written, so that no reader takes it for one. */
export function isFormerBoolean(text: string): boolean {
  return /^(?:y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF)$/.test(text);
}

/** `1:30`, which older YAML read as a number to the base of sixty. */
export function isSexagesimal(text: string): boolean {
  return /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/.test(text);
}

function resolveInteger(digits: string): number | bigint | YamlFloat | undefined {
  const match = integer.exec(digits);
  const [, sign, body] = match ?? [];
  if (body === undefined) return undefined;
  const octal = /^0[0-7]+$/.test(body) ? `0o${body.slice(1)}` : body;
  const magnitude = BigInt(octal);
  const value = sign === "-" ? -magnitude : magnitude;
  if (value > 18_446_744_073_709_551_615n || value < -9_223_372_036_854_775_808n) return new YamlFloat(Number(value));
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function resolveTime(text: string): YamlPlain | undefined {
  const match = timestamp.exec(text);
  if (match === null) return undefined;
  const [, year = "", month = "", day = "", hour = "0", minute = "00", second = "00", fraction = "", zone = "Z"] =
    match;
  const two = (part: string): string => part.padStart(2, "0");
  const date = `${year}-${two(month)}-${two(day)}`;
  const clock = `${two(hour)}:${two(minute)}:${two(second)}`;
  const offset =
    zone === "Z"
      ? "Z"
      : zone.replace(/^([-+])(\d{1,2}):?(\d{2})?$/, (_, sign, h, m) => `${sign}${two(h)}:${m ?? "00"}`);
  if (Number.isNaN(Date.parse(`${date}T${clock}Z`))) return undefined;
  const rest = fraction.replace(/0+$/, "");
  return new YamlPlain(`${date}T${clock}${rest === "" ? "" : `.${rest}`}${offset}`);
}

function expand(mantissa: string, power: number): string {
  const negative = mantissa.startsWith("-");
  const digits = mantissa.replace("-", "").replace(".", "");
  const sign = negative ? "-" : "";
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
  const padded = digits.padEnd(power + 1, "0");
  const [whole, rest] = [padded.slice(0, power + 1), padded.slice(power + 1)];
  return `${sign}${whole}${rest === "" ? "" : `.${rest}`}`;
}
