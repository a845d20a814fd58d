// SPDX-License-Identifier: Apache-2.0

/**
 * A number that neither `number` nor `bigint` holds without loss, as normalised decimal text. Terraform computes with
 * 512 bits: 0.1 in a configuration is not the 0.1 of a double, and giving back the double is a diff that never ends.
 */
export class Decimal {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

/** Safe integers are `number`, other integers `bigint`, all else `Decimal`: one form for each value. */
export type NumberValue = number | bigint | Decimal;

/** Integers with more digits stay in exponent form: nobody gets to make us expand 1e999999999. */
const longestInteger = 400;

/** Reads decimal text (`-12`, `0.10`, `1e30`) into the one form of its value. Throws on anything else. */
export function parseNumber(text: string): NumberValue {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/.exec(text);
  const whole = match?.[2] ?? "";
  const fraction = match?.[3] ?? "";
  if (match === null || whole + fraction === "") throw new TypeError(`not a number: ${JSON.stringify(text)}`);
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return 0;
  const exponent = Number(match[4] ?? 0) - fraction.length + (digits.length - significant.length);
  const sign = match[1] === "-" ? "-" : "";
  if (exponent >= 0 && significant.length + exponent <= longestInteger)
    return shortest(BigInt(sign + significant + "0".repeat(exponent)));
  if (exponent < 0 && -exponent < longestInteger) {
    const padded = significant.padStart(1 - exponent, "0");
    return new Decimal(`${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`);
  }
  return new Decimal(`${sign}${significant}e${exponent}`);
}

/** The exact value of a double, which is what Terraform means when it sends one. */
export function numberFromDouble(double: number): NumberValue {
  if (!Number.isFinite(double)) throw new TypeError(`not a number: ${double}`);
  if (Number.isInteger(double)) return shortest(BigInt(double));
  let scaled = double;
  let shift = 0;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    shift += 1;
  }
  return parseNumber(`${BigInt(scaled) * 5n ** BigInt(shift)}e-${shift}`);
}

export function shortest(integer: bigint): number | bigint {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : integer;
}

/** Decimal text of a number; a fraction written in our own code (0.1) means its shortest text, not its double. */
export function numberText(value: NumberValue): string {
  if (typeof value === "number" && !Number.isInteger(value)) return String(parseNumber(String(value)));
  return typeof value === "number" ? String(BigInt(value)) : String(value);
}
