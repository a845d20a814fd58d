// SPDX-License-Identifier: Apache-2.0
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { nearestProject } from "../../model/project-root.ts";
import { ownerAt } from "../../model/state-owner.ts";
import {
  type Attributes,
  attribute,
  type ConfigOf,
  DiagnosticError,
  isUnknown,
  type Provider,
  path,
} from "../framework/index.ts";
import { actions } from "./actions/index.ts";
import { addon } from "./addon.ts";
import { Client } from "./client.ts";
import { clientFiles } from "./client-files.ts";
import { cloudInit } from "./cloud-init.ts";
import { cluster } from "./cluster/cluster.ts";
import { ClusterSecrets, type Encryption, type SecretsSource } from "./cluster-secrets.ts";
import { etcdSnapshot } from "./etcd-snapshot.ts";
import { nodeAddress, nodeMac, patch } from "./functions.ts";
import { health } from "./health.ts";
import { kubeconfig } from "./kubeconfig.ts";
import { lists } from "./lists/index.ts";
import { machineConfig } from "./machine-config.ts";
import { member } from "./member.ts";
import { schematic } from "./schematic.ts";
import { secrets } from "./secrets.ts";
import { simulatedMachine } from "./simulated-machine.ts";
import { talosconfig } from "./talosconfig.ts";
import { translateError } from "./translate-error.ts";
import { isGiven, oneOf } from "./value-rules.ts";

const encryptions: readonly Encryption[] = ["none", "age", "sops"];

const attributes = {
  secrets_file: attribute.optional.string(
    "The cluster's secrets bundle, relative to the project's root. Made at the first apply when it is not there, readable by you alone. Nothing of it gets into plan or state. Else the environment variable `TALOSMITH_SECRETS_FILE`.",
  ),
  secrets_encryption: attribute.optional.string(
    "How `secrets_file` is encrypted: `none`, `age` or `sops`. Default: a file that is there is opened as it is encrypted; a new one is encrypted by its name, `.age` or `.sops.yaml`. Age keys come from `SOPS_AGE_KEY` or `SOPS_AGE_KEY_FILE`; for SOPS its own program is asked.",
    { validators: [oneOf(...encryptions)] },
  ),
  age_recipients: attribute.optional.stringList(
    "For whom a new `secrets_file` is encrypted with age: public keys, `age1…`.",
  ),
  secrets: attribute.optional.string(
    "The secrets bundle itself, YAML: from an ephemeral value, or from a `talosmith_secrets` of an aliased provider. Else the environment variable `TALOSMITH_SECRETS`.",
    { sensitive: true },
  ),
  owner: attribute.optional.string(
    "Which state this is, such as `environment production, backend s3:states/production.tfstate, workspace ${terraform.workspace}`. It is stored with simulated machines and in the cluster: a create through another workspace or backend is refused, instead of taking the same machines into a second state. The file of a local state, `local:state/lab.tfstate`, is relative to the project's root: a copy of the project without its state is another owner. Default: not checked.",
  ),
} satisfies Attributes;

export interface ProviderOptions {
  readonly workingDirectory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly daemonCommand: readonly [string, ...string[]];
}

export function talosmithProvider(options: ProviderOptions): Provider<typeof attributes, Client> {
  const { workingDirectory, environment, daemonCommand } = options;
  return {
    description: "Talos Linux clusters: machines, configs, bring-up, changes and end, from one resource per cluster.",
    attributes,
    resources: [addon, clientFiles, cloudInit, cluster, etcdSnapshot, member, secrets, simulatedMachine],
    dataSources: [health, machineConfig, schematic],
    ephemeralResources: [kubeconfig, talosconfig],
    functions: [nodeAddress, nodeMac, patch],
    actions,
    lists,
    translateError,
    validate: ({ config }) => {
      if (isGiven(config.secrets) && isGiven(config.secrets_file))
        throw new DiagnosticError({
          summary: "Two sources of secrets",
          detail: "Give either secrets_file or secrets.",
          path: path("secrets"),
        });
    },
    configure: ({ config }) => {
      const root = findProjectRoot(workingDirectory, environment);
      const source = secretsSource(config, environment, root);
      loadEngine();
      return new Client({
        root,
        secrets: new ClusterSecrets(source, environment),
        owner:
          typeof config.owner === "string" && config.owner !== ""
            ? ownerAt(config.owner, realpathSync(root))
            : undefined,
        environment,
        daemonCommand,
      });
    },
  };
}

/**
 * Terraform asks for the machines first, often of other providers, and for their cluster last: its engine is loaded
 * meanwhile. If that fails, whoever needs it is told.
 */
function loadEngine(): void {
  setImmediate(() => import("../../engine/index.ts").catch(() => {}));
}

function secretsSource(
  config: ConfigOf<typeof attributes>,
  environment: NodeJS.ProcessEnv,
  root: string,
): SecretsSource {
  if (isUnknown(config.secrets) || isUnknown(config.secrets_file)) return { kind: "unknown" };
  if (config.secrets !== null) return { kind: "text", text: config.secrets, from: "the provider's secrets" };
  const { TALOSMITH_SECRETS: text } = environment;
  if (config.secrets_file === null && text) return { kind: "text", text, from: "TALOSMITH_SECRETS" };
  const file = config.secrets_file ?? environment.TALOSMITH_SECRETS_FILE;
  if (!file) return { kind: "none" };
  const { secrets_encryption: encryption, age_recipients: recipients } = config;
  return {
    kind: "file",
    path: resolve(root, file),
    encryption: typeof encryption === "string" ? (encryption as Encryption) : undefined,
    recipients: Array.isArray(recipients) ? recipients.filter((item) => typeof item === "string") : [],
  };
}

/**
 * What relative paths in attributes are relative to: TALOSMITH_ROOT, else the nearest folder above that has a
 * cdktf.json, else the working directory. A synthesized stack is somewhere below the project that it comes from, and
 * its state must not hold anybody's home directory.
 */
export function findProjectRoot(workingDirectory: string, environment: NodeJS.ProcessEnv): string {
  return nearestProject(workingDirectory, environment) ?? workingDirectory;
}
