// SPDX-License-Identifier: Apache-2.0
import { isIP } from "node:net";
import { TalosError } from "../errors.ts";

/** Port of the Talos API on every node. */
export const apiPort = 50000;

export interface Address {
  /** IP address without brackets, or host name. */
  readonly host: string;
  readonly port: number;
}

/** Reads `10.0.0.1`, `node.example:6000`, `fd00::1` or `[fd00::1]:6000`; without a port it is the Talos API's. */
export function parseAddress(text: string): Address {
  if (isIP(text) !== 0) return { host: text, port: apiPort };
  const match = /^(?:\[([^\]]+)\]|([^:\s/[\]]+))(?::(\d{1,5}))?$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? apiPort : Number(match[3]);
  const bracketed = match?.[1];
  if (host === undefined || port < 1 || port > 65535 || (bracketed !== undefined && isIP(bracketed) !== 6)) {
    throw new TalosError("invalid-input", `"${text}" is not the address of a machine`, {
      hint: "Write an IP address or a host name, with a port if it is not 50000: 10.0.0.70, node-1.example:50000, [fd00::1]:50000.",
    });
  }
  return { host, port };
}

export function grpcTarget({ host, port }: Address): string {
  switch (isIP(host)) {
    case 4:
      return `ipv4:${host}:${port}`;
    case 6:
      return `ipv6:[${host}]:${port}`;
    default:
      return `dns:${host}:${port}`;
  }
}
