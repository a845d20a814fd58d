// SPDX-License-Identifier: Apache-2.0

/** What browsers put into the `Host` header of a request to us: in lower case, and without a port that goes without saying. */
export function hostNames(host: string, port: number): ReadonlySet<string> {
  const names = [host.includes(":") ? `[${host}]` : host, "127.0.0.1", "localhost", "[::1]"];
  return new Set(names.map((name) => new URL(`http://${name}:${port}`).host));
}
