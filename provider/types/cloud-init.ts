// SPDX-License-Identifier: Apache-2.0
import { rm } from "node:fs/promises";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import {
  type Attributes,
  attribute,
  DiagnosticError,
  isWhollyKnown,
  path,
  type Resource,
  type StateOf,
  unknown,
  type Value,
} from "../framework/index.ts";
import type { Client } from "./client.ts";
import { configAttributes, renderConfig } from "./machine-config.ts";
import { readIfThere, sha256 } from "./own-files.ts";
import { readPatchFiles } from "./patch-files.ts";
import { translateError } from "./translate-error.ts";
import { isGiven } from "./value-rules.ts";

const attributes = {
  path: attribute.string({
    mode: "required",
    replaces: true,
    description: "Where the image is written, relative to the project's root.",
    validators: [
      (value, where, diagnostics) => {
        if (value === "")
          diagnostics.error({ summary: "No path", detail: "Name a file, such as seed.iso.", path: where });
      },
    ],
  }),
  meta_data: attribute.string({ mode: "required", description: "Content of `meta-data`, YAML." }),
  network_config: attribute.string({ mode: "required", description: "Content of `network-config`, YAML." }),
  user_data: attribute.string({
    mode: "optional",
    sensitive: true,
    description:
      "Content of `user-data`: a machine config. It holds secrets, and they are then in the state. Without it the machine waits for its config.",
  }),
  machine_config: attribute.nestedObject({
    mode: "optional",
    description:
      "What the machine's config follows from, together with the secrets of the provider block: it becomes `user-data`, and neither it nor a secret is in the state. The image holds secrets then, and is readable by its owner only.",
    attributes: configAttributes,
  }),
  id: attribute.string({ mode: "computed", stable: true, description: "The path." }),
  hash: attribute.string({ mode: "computed", description: "SHA-256 of the image; known while planning." }),
} satisfies Attributes;

type Inputs = Pick<StateOf<typeof attributes>, "meta_data" | "network_config" | "user_data" | "machine_config">;

/** The seed from which a machine takes its first network settings: the same inputs, the same bytes. */
export const cloudInit: Resource<typeof attributes, Client> = {
  name: "talosmith_cloud_init",
  description:
    "A NoCloud seed (label `cidata`) as an ISO image for one machine. The image follows from the inputs, so it is written again, without a change in the plan, wherever it is missing.",
  attributes,

  async validate({ config, diagnostics }) {
    if (isGiven(config.user_data) && isGiven(config.machine_config))
      diagnostics.error({
        summary: "Two contents for one file",
        detail: "Both user_data and machine_config would become user-data. Give one of the two.",
        path: path("machine_config"),
      });
    if (typeof config.network_config !== "string") return;
    const { checkNetworkConfig } = await import("../../cloud-init/index.ts");
    try {
      checkNetworkConfig(config.network_config);
    } catch (error) {
      const finding = translateError(error);
      if (finding === undefined) throw error;
      diagnostics.error({ ...finding, path: path("network_config") });
    }
  },

  async plan({ planned, client }) {
    const { meta_data, network_config, user_data, machine_config } = planned;
    const id = planned.path ?? unknown;
    const inputs = { meta_data, network_config, user_data, machine_config };
    if (!isWhollyKnown(inputs as Value)) return { values: { id, hash: unknown } };
    const secrets = await client.secrets.find();
    if (machine_config !== null && secrets === undefined) return { values: { id, hash: unknown } };
    return { values: { id, hash: sha256(await imageOf(inputs as Inputs, client, secrets)) } };
  },

  async create({ planned, client }) {
    const talosVersion = planned.machine_config?.talos_version;
    const secrets =
      talosVersion === undefined ? undefined : await client.secrets.forCreate({ talosVersion, throwaway: false });
    return { ...planned, id: planned.path, hash: await write(client, planned, secrets) };
  },

  async read({ state, client }) {
    const found = await readIfThere(client.path(state.path));
    if (found !== undefined && sha256(found) === state.hash) return state;
    const secrets = await client.secrets.find();
    // Where the secrets are not at hand, such as on a colleague's clone, the image stays away.
    if (state.machine_config === null || secrets !== undefined) await write(client, state, secrets);
    return state;
  },

  async update({ planned, client }) {
    const secrets = planned.machine_config === null ? undefined : await client.secrets.of(null);
    return { ...planned, id: planned.path, hash: await write(client, planned, secrets) };
  },

  async delete({ state, client }) {
    await rm(client.path(state.path), { force: true });
  },

  async import({ id, client }) {
    const { readIso } = await import("../../cloud-init/index.ts");
    const image = await readIfThere(client.path(id));
    if (image === undefined)
      throw new DiagnosticError({
        summary: "No such image",
        detail: `${id} is not there. Give its path, relative to the project's root, ${client.root}.`,
      });
    const files = readIso(image, id);
    return {
      path: id,
      meta_data: files.get("meta-data") ?? "",
      network_config: files.get("network-config") ?? "",
      user_data: files.get("user-data") ?? null,
      machine_config: null,
      id,
      hash: sha256(image),
    };
  },
};

async function imageOf(
  { meta_data, network_config, user_data, machine_config }: Inputs,
  client: Client,
  secrets: SecretsBundle | undefined,
): Promise<Uint8Array> {
  const { createNoCloudIso } = await import("../../cloud-init/index.ts");
  const userData =
    machine_config === null || secrets === undefined ? user_data : await wholeConfig(machine_config, client, secrets);
  return createNoCloudIso({
    "meta-data": meta_data,
    "network-config": network_config,
    ...(userData === null ? {} : { "user-data": userData }),
  });
}

async function wholeConfig(
  input: NonNullable<Inputs["machine_config"]>,
  client: Client,
  secrets: SecretsBundle,
): Promise<string> {
  const at = path("machine_config").attribute("patch_files");
  const files = await readPatchFiles(client, input.patch_files ?? [], input.talos_version, at);
  return renderConfig(input, secrets, files);
}

async function write(
  client: Client,
  inputs: Inputs & { readonly path: string },
  secrets: SecretsBundle | undefined,
): Promise<string> {
  const { writeFileAtomically } = await import("../../talos/atomic-file.ts");
  const image = await imageOf(inputs, client, secrets);
  await writeFileAtomically(client.path(inputs.path), image);
  return sha256(image);
}
