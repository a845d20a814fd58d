// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { secretsFromConfig } from "../../talos/config/index.ts";
import { TalosError } from "../../talos/errors.ts";
import {
  caFingerprint,
  encodeSecrets,
  generateSecrets,
  importKubeadmPki,
  type SecretsBundle,
  secretsExist,
  secretsStore,
} from "../../talos/secrets/index.ts";
import type { CommandContext } from "../context.ts";
import { contractOption } from "./contract-option.ts";
import { readText } from "./read-text.ts";

export interface GenSecretsOptions {
  readonly fromControlplaneConfig?: string;
  readonly fromKubernetesPki?: string;
  readonly kubernetesBootstrapToken?: string;
  readonly outputFile: string;
  readonly talosVersion?: string;
  readonly ageRecipient: readonly string[];
  readonly sops: boolean;
  readonly force: boolean;
  readonly json: boolean;
}

export async function genSecrets(options: GenSecretsOptions, context: CommandContext): Promise<void> {
  if (options.sops && options.ageRecipient.length > 0) {
    throw new TalosError("invalid-input", "--sops and --age-recipient cannot be used together");
  }
  if (options.outputFile === "-") {
    if (options.sops || options.ageRecipient.length > 0) {
      throw new TalosError("invalid-input", "encrypted secrets cannot be written to stdout", {
        hint: "Name a file with --output-file.",
      });
    }
    context.stdout.write(encodeSecrets(await makeBundle(options, context)));
    return;
  }
  const path = resolve(context.cwd, options.outputFile);
  const replace = options.force;
  // Told before keys are made, which takes seconds. The write itself is what keeps an existing file safe.
  if (!replace && existsSync(path)) throw secretsExist(options.outputFile);
  const bundle = await makeBundle(options, context);
  if (options.sops) await secretsStore({ kind: "sops", path }).create(bundle, { replace });
  else if (options.ageRecipient.length > 0) {
    await secretsStore({ kind: "age", path, recipients: options.ageRecipient }).create(bundle, { replace });
  } else await secretsStore({ kind: "file", path }).create(bundle, { replace });
  const summary = { file: options.outputFile, caFingerprint: caFingerprint(bundle) };
  if (options.json) context.stdout.write(`${JSON.stringify(summary)}\n`);
  else context.stderr.write(`Created ${options.outputFile}\n`);
}

async function makeBundle(options: GenSecretsOptions, context: CommandContext): Promise<SecretsBundle> {
  const generate = { contract: contractOption(options.talosVersion), clock: context.clock, entropy: context.entropy };
  const { fromControlplaneConfig: config, fromKubernetesPki: pki } = options;
  if (config !== undefined && pki !== undefined) {
    throw new TalosError(
      "invalid-input",
      "--from-controlplane-config and --from-kubernetes-pki cannot be used together",
    );
  }
  if (config !== undefined) return secretsFromConfig(await readText(config, context.cwd), config);
  if (pki !== undefined) {
    return await importKubeadmPki(resolve(context.cwd, pki), options.kubernetesBootstrapToken, generate);
  }
  return await generateSecrets(
    generate,
    options.kubernetesBootstrapToken === undefined ? {} : { bootstrapToken: options.kubernetesBootstrapToken },
  );
}
