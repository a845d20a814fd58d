// SPDX-License-Identifier: Apache-2.0
import { type Attributes, attribute, isUnknown, type Provider } from "../framework/index.ts";
import { Client } from "./client.ts";
import { clientFiles } from "./client-files.ts";
import { cluster } from "./cluster/cluster.ts";
import { findProjectRoot } from "./project-root.ts";
import { simulatedMachine } from "./simulated-machine.ts";
import { translateError } from "./translate-error.ts";

const attributes = {
  secrets_file: attribute.string({
    mode: "optional",
    description:
      "The cluster's secrets bundle, relative to the project's root. Made at the first apply when it is not there, readable by you alone. Nothing of it gets into plan or state.",
  }),
} satisfies Attributes;

export interface ProviderOptions {
  readonly workingDirectory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly daemonCommand: readonly [string, ...string[]];
}

export function talosmithProvider(options: ProviderOptions): Provider<typeof attributes, Client> {
  return {
    description: "Talos Linux clusters: machines, configs, bring-up, changes and end, from one resource per cluster.",
    attributes,
    resources: [simulatedMachine, cluster, clientFiles],
    dataSources: [],
    ephemeralResources: [],
    functions: [],
    translateError,
    configure: ({ config }) =>
      new Client({
        root: findProjectRoot(options.workingDirectory, options.environment),
        secretsFile: isUnknown(config.secrets_file) ? undefined : config.secrets_file,
        daemonCommand: options.daemonCommand,
        unattended: Boolean(options.environment["CI"]),
      }),
  };
}
