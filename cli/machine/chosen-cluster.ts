// SPDX-License-Identifier: Apache-2.0
import { isIP } from "node:net";
import { TalosError } from "../../talos/errors.ts";
import { namesHint } from "../../talos/nearest-word.ts";

/** What `-e` of a command for single machines says. */
export interface ChosenCluster {
  /** One of the project's. @default - the talosconfig is found as talosctl finds it */
  readonly environment?: string;
  /** Control planes to connect to, as talosctl's own `-e`. */
  readonly endpoints: readonly string[];
}

/** An environment of the project by its name; everything else that may be an address is one. */
export function chosenCluster(values: readonly string[], environments: readonly string[]): ChosenCluster {
  const [first = "", ...others] = values;
  if (others.length === 0 && environments.includes(first)) return { environment: first, endpoints: [] };
  const name = values.find((value) => environments.length > 0 && !isAddress(value));
  if (name === undefined) return { endpoints: values };
  throw new TalosError("not-found", `no environment is called ${name}`, {
    hint: `${namesHint(name, environments)} For a host of this name: --endpoints ${name}`,
  });
}

/** A name without a dot may be a host, too, but in a project it is most likely an environment. */
function isAddress(value: string): boolean {
  return isIP(value) !== 0 || /[.:]/.test(value) || value === "localhost";
}

/** The machine that a name means: its whole name, or what comes after the cluster's: `cp-1` of `local-cp-1`. */
export function machineNamed(name: string, machines: readonly string[]): string {
  const [found, another] = machines.includes(name) ? [name] : machines.filter((one) => one.endsWith(`-${name}`));
  if (found !== undefined && another === undefined) return found;
  throw new TalosError("not-found", `no machine is called ${name}`, { hint: namesHint(name, machines) });
}

/** Addresses stay as they are, names become addresses. */
export function isMachineName(node: string): boolean {
  return !isAddress(node);
}
