// SPDX-License-Identifier: Apache-2.0
import type { DesiredMachine } from "../desired.ts";

/** A sentence in which each address of a machine stands behind the machine's name. */
export function withNames(text: string, machines: readonly Pick<DesiredMachine, "name" | "address">[]): string {
  let named = text;
  for (const { name, address } of machines) {
    const host = address.replace(/^([\d.]+):\d+$/, "$1");
    if (host === name || !named.includes(host)) continue;
    const pattern = host.replace(/[.[\]]/g, "\\$&");
    named = named.replace(new RegExp(`(?<![\\w.:(/])${pattern}(?![\\w.]*\\d)`, "g"), `${name} (${host})`);
  }
  return named;
}
