// SPDX-License-Identifier: Apache-2.0
import { rm } from "node:fs/promises";
import { clusterSettings, givenIn } from "../../model/settings/index.ts";
import { readIfThere } from "../../talos/atomic-file.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import {
  type Attributes,
  attribute,
  DiagnosticError,
  isUnknown,
  isWhollyKnown,
  type PlanOf,
  path,
  type Resource,
  type StateOf,
  unknown,
  type Value,
} from "../framework/index.ts";
import type { Client } from "./client.ts";
import { configAttributes, renderConfig } from "./machine-config.ts";
import { changedSincePlan, readToImport, sha256 } from "./own-files.ts";
import { MissingPatchFile, patchesOfFiles, refuseSecretPatches } from "./patch-files.ts";
import { checkInto, translateError } from "./translate-error.ts";
import { isGiven } from "./value-rules.ts";

const attributes = {
  path: attribute.required.string("Where the image is written, relative to the project's root.", {
    replaces: true,
    validators: [
      (value, where, diagnostics) => {
        if (value === "")
          diagnostics.error({ summary: "No path", detail: "Name a file, such as seed.iso.", path: where });
      },
    ],
  }),
  meta_data: attribute.required.string("Content of `meta-data`, YAML."),
  network_config: attribute.required.string("Content of `network-config`, YAML."),
  user_data: attribute.optional.string(
    "Content of `user-data`: a machine config. It holds secrets, and they are then in the state. Without it the machine waits for its config.",
    { sensitive: true },
  ),
  machine_config: attribute.optional.nestedObject(
    "What the machine's config follows from, together with the secrets of the provider block: it becomes `user-data`, and neither it nor a secret is in the state. The image holds secrets then, and is readable by its owner only.",
    configAttributes,
  ),
  id: attribute.computed.string("The path.", { stable: true }),
  hash: attribute.computed.string("SHA-256 of the image; known while planning."),
} satisfies Attributes;

type Schema = typeof attributes;
type State = StateOf<Schema>;
type Inputs = Pick<State, "meta_data" | "network_config" | "user_data" | "machine_config">;

/** The seed from which a machine takes its first network settings: the same inputs, the same bytes. */
export const cloudInit: Resource<Schema, Client> = {
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
    if (config.machine_config !== null && !isUnknown(config.machine_config))
      await refuseSecretPatches(
        config.machine_config.patches,
        path("machine_config").attribute("patches"),
        diagnostics,
      );
    if (typeof config.network_config !== "string") return;
    const { checkNetworkConfig } = await import("../../cloud-init/index.ts");
    const text = config.network_config;
    checkInto(diagnostics)(path("network_config"), () => checkNetworkConfig(text));
  },

  async plan({ prior, planned, changed, client, diagnostics }) {
    const { meta_data, network_config, user_data, machine_config } = planned;
    const id = planned.path ?? unknown;
    const inputs = { meta_data, network_config, user_data, machine_config };
    if (!isWhollyKnown(inputs as Value)) return { values: { id, hash: unknown } };
    const secrets = await client.secrets.find();
    if (machine_config !== null && secrets === undefined) return { values: { id, hash: unknown } };
    try {
      return { values: { id, hash: sha256(await imageOf(inputs as Inputs, client, secrets)) } };
    } catch (error) {
      // Terraform plans like this before a destroy too, and a destroy needs no file.
      if (prior === null || changed || !(error instanceof MissingPatchFile)) throw error;
      diagnostics.warning({
        ...error.finding,
        detail: `${error.finding.detail} The image stays as it is; the next change needs the file again.`,
      });
      return { values: { id, hash: prior.hash } };
    }
  },

  async create({ planned, client }) {
    const { machine_config: config } = planned;
    const secrets =
      config === null
        ? undefined
        : await client.secrets.forCreate({ ...givenIn(clusterSettings, config), throwaway: false });
    return apply(planned, client, secrets);
  },

  async read({ state, client, diagnostics }) {
    try {
      const found = await readIfThere(client.path(state.path));
      if (found !== undefined && sha256(found) === state.hash) return state;
      const secrets = await client.secrets.find();
      // Where the secrets are not at hand, such as on a colleague's clone, the image stays away.
      if (state.machine_config === null || secrets !== undefined)
        await write(client, state.path, await imageOf(state, client, secrets));
    } catch (error) {
      const finding = error instanceof DiagnosticError ? error.finding : translateError(error);
      if (finding === undefined) throw error;
      diagnostics.warning({ summary: "The image could not be written again", detail: finding.detail });
    }
    return state;
  },

  async update({ planned, client }) {
    return apply(planned, client, planned.machine_config === null ? undefined : await client.secrets.of(null));
  },

  async delete({ state, client }) {
    await rm(client.path(state.path), { force: true });
  },

  identity: {
    attributes: { path: "Path of the image, relative to the project's root." },
    of: ({ path }) => ({ path }),
    idOf: ({ path = "" }) => path,
  },

  async import({ id, client }) {
    const { readIso } = await import("../../cloud-init/index.ts");
    const image = await readToImport(client, id);
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
  const files = { "meta-data": meta_data, "network-config": network_config };
  return createNoCloudIso(userData === null ? files : { ...files, "user-data": userData });
}

async function wholeConfig(
  input: NonNullable<Inputs["machine_config"]>,
  client: Client,
  secrets: SecretsBundle,
): Promise<string> {
  const at = path("machine_config").attribute("patch_files");
  const files = await patchesOfFiles(client, input.patch_files ?? [], input, at);
  return renderConfig(input, secrets, files);
}

async function apply(planned: PlanOf<Schema>, client: Client, secrets: SecretsBundle | undefined): Promise<State> {
  const image = await imageOf(planned, client, secrets);
  const hash = sha256(image);
  if (!isUnknown(planned.hash) && planned.hash !== hash)
    throw changedSincePlan("A patch file, or the cluster's secrets,", path("machine_config"));
  await write(client, planned.path, image);
  return { ...planned, id: planned.path, hash };
}

async function write(client: Client, file: string, image: Uint8Array): Promise<void> {
  const { writeFileAtomically } = await import("../../talos/atomic-file.ts");
  await writeFileAtomically(client.path(file), image);
}
