// SPDX-License-Identifier: Apache-2.0
import { stringify } from "yaml";
import type { AddonSection } from "../schema/index.ts";

/** An add-on that an environment asks for, with its values as YAML text. */
export type AddonPlan = Omit<AddonSection, "values" | "namespace"> & {
  readonly namespace: string;
  /** Empty text when there are none. */
  readonly values: string;
};

/** A chart that a setting installs. */
interface SystemChart {
  /** Of the chart and of the release. */
  readonly name: string;
  readonly repository: string;
  readonly version: string;
  readonly values: object;
  /** @default none */
  readonly after?: readonly string[];
}

/** The release of such a chart, in kube-system. */
export function systemAddon({ name, repository, version, values, after = [] }: SystemChart): AddonPlan {
  return {
    name,
    namespace: "kube-system",
    chart: name,
    repository,
    version,
    values: valuesText(values),
    valuesFiles: [],
    cni: false,
    after: [...after],
    wait: true,
    timeout: 600_000,
  };
}

export function valuesText(values: object): string {
  return Object.keys(values).length === 0 ? "" : stringify(values, { sortMapEntries: true });
}
