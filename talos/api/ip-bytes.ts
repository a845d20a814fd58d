// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";

/** Text of an address that the API sends as 4 or 16 bytes; empty for none. */
export function formatIp(bytes: Uint8Array): string {
  if (bytes.length !== 4 && bytes.length !== 16) return "";
  const address = ipaddr.fromByteArray([...bytes]);
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}
