// SPDX-License-Identifier: Apache-2.0
import { EnvironmentError } from "./fault.ts";
import { type FirstEnvironment, type FirstQuestion, firstEnvironment } from "./first-environment.ts";
import { parseEnvironment } from "./parse-environment.ts";

const places: Readonly<Record<FirstQuestion["key"] | "controlPlanes" | "workers", string>> = {
  controlPlanes: "controlPlane",
  workers: "workers",
  uri: "infrastructure.uri",
  cidr: "infrastructure.network",
  vip: "infrastructure.network",
  region: "infrastructure.region",
  adminCidrs: "infrastructure.adminCidrs",
  zone: "infrastructure.dns",
  controlPlaneAddresses: "infrastructure.machines",
  workerAddresses: "infrastructure.machines",
};

/** What is wrong with one answer for a first environment, as far as the answers before it tell; undefined when nothing is. */
export function wrongAnswer(answers: FirstEnvironment, key: keyof typeof places): string | undefined {
  const text = firstEnvironment(answers);
  const file = "environments/first.yaml";
  try {
    parseEnvironment("first", (path) => (path === file ? text : undefined));
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    // What is missing elsewhere is still to be asked.
    const fault = error.faults.find(
      ({ path }) => `${path}.`.startsWith(`${places[key]}.`) || path.startsWith(`${places[key]}[`),
    );
    return fault === undefined ? undefined : `found ${fault.found}, expected ${fault.expected}`;
  }
  return undefined;
}
