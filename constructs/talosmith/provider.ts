// SPDX-License-Identifier: Apache-2.0
import type { Construct } from "constructs";
import packageJson from "../../package.json" with { type: "json" };
import { Provider } from "../terraform/index.ts";

export interface TalosmithProviderArguments {
  /** Secrets bundle, relative to the project's root. */
  readonly secrets_file: string;
  /** Which state this is, of all that could hold the same cluster. */
  readonly owner?: string;
}

const talosmithProvider = {
  name: "talosmith",
  source: "talosmith.internal/talosmith/talosmith",
  version: packageJson.version,
} as const;

export class TalosmithProvider extends Provider<TalosmithProviderArguments> {
  constructor(scope: Construct, id: string, args: TalosmithProviderArguments, alias?: string) {
    super(scope, id, talosmithProvider, args, alias);
  }
}
