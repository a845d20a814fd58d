// SPDX-License-Identifier: Apache-2.0

import { clusterSettings } from "../../model/settings/index.ts";
import { given } from "../../talos/given.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import { type Attributes, attribute, type DataSource, path, type StateOf } from "../framework/index.ts";
import type { Client } from "./client.ts";
import { clusterSpec } from "./cluster/spec.ts";
import { patchesOfFiles, refuseSecretPatches } from "./patch-files.ts";
import { attributesOf } from "./setting-attributes.ts";
import { checkSettings } from "./setting-rules.ts";
import { machineRole } from "./value-rules.ts";

/** What a machine's config follows from, together with the secrets. */
export const configAttributes = {
  ...attributesOf(clusterSettings),
  role: machineRole,
  hostname: attribute.optional.string("Host name of the machine."),
  patches: attribute.optional.stringList(
    "Config patches, as YAML. They are in the state: without `include_secrets`, one that holds a secret is refused.",
  ),
  patch_files: attribute.optional.stringList(
    "Files with more config patches, applied after `patches`; see `talosmith_cluster`. They are in the config only, never in `redacted`.",
  ),
} satisfies Attributes;

const attributes = {
  ...configAttributes,
  include_secrets: attribute.optional.bool(
    "Whether `config` is given. It is then in the state, with the cluster's keys and tokens. Default false.",
  ),
  redacted: attribute.computed.string("The config as YAML with every secret replaced."),
  config: attribute.computed.string("The config as YAML, with `include_secrets`.", { sensitive: true }),
} satisfies Attributes;

/** A machine's config as text, for those who bring it to the machine themselves. */
export const machineConfig: DataSource<typeof attributes, Client> = {
  name: "talosmith_machine_config",
  description:
    "The config of one machine as text, the same bytes as `talosctl gen config` writes. Without secrets unless asked for.",
  attributes,

  async validate({ config, diagnostics }) {
    await checkSettings(config, diagnostics);
    if (config.include_secrets !== true) await refuseSecretPatches(config.patches, path("patches"), diagnostics);
  },

  async read({ config, client, diagnostics }) {
    const { MachineConfig, redactConfig } = await import("../../talos/config/index.ts");
    const secrets = await client.secrets.of(null);
    const files = await patchesOfFiles(client, config.patch_files ?? [], config, path("patch_files"));
    if (config.include_secrets)
      diagnostics.warning({
        summary: "Secrets in the state",
        detail: `The config of a ${config.role} of ${config.name} is stored with ${config.role === "controlplane" ? "the cluster's CA keys and tokens" : "the cluster's tokens"}. Keep the state as safe as the secrets file.`,
      });
    return {
      ...config,
      redacted: redactConfig(new MachineConfig(await renderConfig(config, secrets))),
      config: config.include_secrets ? await renderConfig(config, secrets, files) : null,
    };
  },
};

type ConfigInput = StateOf<typeof configAttributes>;

/** The config of one machine: the same text for the same input, secrets and further patches. */
export async function renderConfig(
  input: ConfigInput,
  secrets: SecretsBundle,
  morePatches: readonly string[] = [],
): Promise<string> {
  const { generateMachineConfig } = await import("../../talos/config/index.ts");
  const {
    name: clusterName,
    placeOf: _place,
    ...spec
  } = await clusterSpec({
    ...input,
    join: null,
    talos_endpoints: null,
    trust_on_first_use: null,
    config_source: null,
    rollout: null,
    machines: {},
    scaling_pools: null,
  });
  return generateMachineConfig({ ...spec, clusterName }, secrets, {
    type: input.role === "controlplane" ? "controlplane" : "worker",
    ...given({ hostname: input.hostname ?? undefined }),
    patches: [...(input.patches ?? []), ...morePatches],
  });
}
