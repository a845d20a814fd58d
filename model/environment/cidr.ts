// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";

/** The address as a number, or undefined when the text is no IPv4 address in four parts. */
function toNumber(address: string): number | undefined {
  if (!ipaddr.IPv4.isValidFourPartDecimal(address)) return undefined;
  return ipaddr.IPv4.parse(address).octets.reduce((sum, octet) => sum * 256 + octet, 0);
}

function toAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

/** An IPv4 network, checked once at birth. */
export class Cidr {
  /** Thousands of machines are asked for in the same network, one after the other. */
  static #latest: { readonly text: string; readonly cidr: Cidr } | undefined;
  readonly #first: number;
  readonly prefix: number;

  private constructor(first: number, prefix: number) {
    this.#first = first;
    this.prefix = prefix;
  }

  /** Reads `10.0.0.0/24`; undefined when the text is no network or has host bits set. */
  static tryParse(text: string): Cidr | undefined {
    const [address = "", prefixText = "", ...rest] = text.split("/");
    const value = toNumber(address);
    const prefix = /^\d{1,2}$/.test(prefixText) ? Number(prefixText) : Number.NaN;
    if (value === undefined || rest.length > 0 || !(prefix >= 0 && prefix <= 32)) return undefined;
    return value % 2 ** (32 - prefix) === 0 ? new Cidr(value, prefix) : undefined;
  }

  /** As tryParse, for text that the schema has let through. */
  static parse(text: string): Cidr {
    if (Cidr.#latest?.text === text) return Cidr.#latest.cidr;
    const cidr = Cidr.tryParse(text);
    if (cidr === undefined) throw new RangeError(`${JSON.stringify(text)} is no IPv4 network`);
    Cidr.#latest = { text, cidr };
    return cidr;
  }

  get size(): number {
    return 2 ** (32 - this.prefix);
  }

  /** The address `offset` places after the network's own; undefined outside of the usable hosts. */
  host(offset: number): string | undefined {
    const last = this.prefix >= 31 ? this.size - 1 : this.size - 2;
    const first = this.prefix >= 31 ? 0 : 1;
    return offset >= first && offset <= last ? toAddress(this.#first + offset) : undefined;
  }

  /** How many places after the network's own address this one stands, or undefined when it is elsewhere. */
  offsetOf(address: string): number | undefined {
    const value = toNumber(address);
    const offset = value === undefined ? -1 : value - this.#first;
    return offset >= 0 && offset < this.size ? offset : undefined;
  }

  /** The `index`th of the networks of `prefix` bits that fit in here; undefined when there are not as many. */
  subnet(prefix: number, index: number): Cidr | undefined {
    const size = 2 ** (32 - prefix);
    if (prefix < this.prefix || prefix > 32 || index < 0 || (index + 1) * size > this.size) return undefined;
    return new Cidr(this.#first + index * size, prefix);
  }

  toString(): string {
    return `${toAddress(this.#first)}/${this.prefix}`;
  }
}
