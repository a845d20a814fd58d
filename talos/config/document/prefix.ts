// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";
import { parsePrefix } from "./network-address.ts";

/** A subnet, or an address with its mask. */
export interface Prefix {
  /** In the form that Go writes. */
  readonly text: string;
  readonly bits: number;
  /** 32 or 128. */
  readonly width: number;
  /** No bit is set after the mask. */
  readonly masked: boolean;
  readonly value: bigint;
}

/** Undefined when the text is no prefix. */
export function readPrefix(text: string): Prefix | undefined {
  const parsed = parsePrefix(text);
  if ("fault" in parsed) return undefined;
  const slash = parsed.value.lastIndexOf("/");
  const bytes = ipaddr.parse(parsed.value.slice(0, slash)).toByteArray();
  const bits = Number(parsed.value.slice(slash + 1));
  const width = bytes.length * 8;
  const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const masked = value % (1n << BigInt(width - bits)) === 0n;
  return { text: parsed.value, bits, width, masked, value };
}

/** Whether one of them lies in the other. */
export function overlap(left: Prefix, right: Prefix): boolean {
  if (left.width !== right.width) return false;
  const free = BigInt(left.width - Math.min(left.bits, right.bits));
  return left.value >> free === right.value >> free;
}
