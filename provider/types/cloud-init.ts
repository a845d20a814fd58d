// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { type Attributes, attribute, isUnknown, path, type Resource, unknown } from "../framework/index.ts";
import type { Client } from "./client.ts";
import { translateError } from "./translate-error.ts";

const attributes = {
  path: attribute.string({
    mode: "required",
    replaces: true,
    description: "Where the image is written, relative to the project's root.",
  }),
  meta_data: attribute.string({ mode: "required", description: "Content of `meta-data`, YAML." }),
  network_config: attribute.string({ mode: "required", description: "Content of `network-config`, YAML." }),
  user_data: attribute.string({
    mode: "optional",
    sensitive: true,
    description:
      "Content of `user-data`: a machine config. It holds secrets, and they are then in the state. Without it the machine waits for its config.",
  }),
  id: attribute.string({ mode: "computed", stable: true, description: "The path." }),
  hash: attribute.string({ mode: "computed", description: "SHA-256 of the image; known while planning." }),
} satisfies Attributes;

interface Inputs {
  readonly meta_data: string;
  readonly network_config: string;
  readonly user_data: string | null;
}

/** The seed from which a machine takes its first network settings: the same inputs, the same bytes. */
export const cloudInit: Resource<typeof attributes, Client> = {
  name: "talosmith_cloud_init",
  description:
    "A NoCloud seed (label `cidata`) as an ISO image for one machine. The image follows from the inputs, so it is written again, without a change in the plan, wherever it is missing.",
  attributes,

  async validate({ config, diagnostics }) {
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

  async plan({ planned }) {
    const { meta_data, network_config, user_data } = planned;
    const id = planned.path ?? unknown;
    if (typeof meta_data !== "string" || typeof network_config !== "string" || isUnknown(user_data))
      return { values: { id, hash: unknown } };
    return { values: { id, hash: sha256(await imageOf({ meta_data, network_config, user_data })) } };
  },

  async create({ planned, client }) {
    return { ...planned, id: planned.path, hash: await write(client.path(planned.path), planned) };
  },

  async read({ state, client }) {
    const file = client.path(state.path);
    if ((await hashOf(file)) !== state.hash) await write(file, state);
    return state;
  },

  async update({ planned, client }) {
    return { ...planned, id: planned.path, hash: await write(client.path(planned.path), planned) };
  },

  async delete({ state, client }) {
    await rm(client.path(state.path), { force: true });
  },
};

async function imageOf({ meta_data, network_config, user_data }: Inputs): Promise<Uint8Array> {
  const { createNoCloudIso } = await import("../../cloud-init/index.ts");
  return createNoCloudIso({
    "meta-data": meta_data,
    "network-config": network_config,
    ...(user_data === null ? {} : { "user-data": user_data }),
  });
}

async function write(file: string, inputs: Inputs): Promise<string> {
  const { writeFileAtomically } = await import("../../talos/atomic-file.ts");
  const image = await imageOf(inputs);
  await writeFileAtomically(file, image);
  return sha256(image);
}

async function hashOf(file: string): Promise<string | undefined> {
  try {
    return sha256(await readFile(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
