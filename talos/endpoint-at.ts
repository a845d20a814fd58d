// SPDX-License-Identifier: Apache-2.0

/** The URL of the Kubernetes API on a machine, by its host name or address. */
export function endpointAt(host: string): string {
  return `https://${host.includes(":") ? `[${host}]` : host}:6443`;
}
