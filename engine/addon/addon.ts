// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";

/** How a private repository or registry knows us. Never in an argument, a plan or a state. */
export interface ChartCredentials {
  readonly username: string;
  readonly password: string;
}

/** A Helm release as it should be. */
export interface Addon {
  /** Name of the release. */
  readonly name: string;
  readonly namespace: string;
  /** Name in the repository, `oci://…`, or a path to a chart. */
  readonly chart: string;
  /** URL of a chart repository. Absent for OCI charts and paths. */
  readonly repository?: string | undefined;
  /** Of the chart. @default the newest */
  readonly version?: string | undefined;
  /** Values as YAML texts, later ones win. They may hold secrets. */
  readonly values: readonly string[];
  readonly credentials?: ChartCredentials | undefined;
  /** Hash of the files of a chart that is given by its path. */
  readonly chartFiles?: string | undefined;
  /** Wait until everything of it is ready, and go back to the revision before when it does not become so. @default true */
  readonly wait?: boolean | undefined;
  /** Milliseconds. @default 10 minutes */
  readonly timeout?: number | undefined;
}

/** Tells two wishes apart without telling what is in them: chart, version and values, not how they are fetched. */
export function addonHash({ chart, repository = "", version = "", values, chartFiles }: Addon): string {
  // A path is another one in every checkout.
  const source = chartFiles ?? chart;
  return createHash("sha256")
    .update(JSON.stringify([source, repository, version, values]))
    .digest("hex")
    .slice(0, 32);
}
