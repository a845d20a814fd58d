// SPDX-License-Identifier: Apache-2.0
import { type Attributes, attribute, type Resource } from "../framework/index.ts";
import type { Client } from "./client.ts";
import { checkRelease } from "./value-rules.ts";

const attributes = {
  talos_version: attribute.optional.string(
    "Talos release that the cluster starts with; decides the form of the secrets. Default: the release that new clusters get. A change does nothing to secrets that are there.",
  ),
  id: attribute.computed.string("Public fingerprint of the Talos CA.", { stable: true }),
  bundle: attribute.computed.string(
    "The secrets bundle, YAML, for `secrets` of another provider block. It is in the state.",
    { stable: true, sensitive: true },
  ),
} satisfies Attributes;

/** A secrets bundle for those who keep their state as safe as a secrets file. */
export const secrets: Resource<typeof attributes, Client> = {
  name: "talosmith_secrets",
  description:
    "A secrets bundle kept in the state. Give it to the `secrets` of an aliased provider block, which the cluster then uses. With a file (`secrets_file`) no secret gets into the state at all.",
  attributes,

  validate: ({ config, diagnostics }) => checkRelease(config, diagnostics),

  async create({ planned }) {
    const [{ encodeSecrets, generateSecrets, caFingerprint }, versions, { systemClock, systemEntropy }] =
      await Promise.all([
        import("../../talos/secrets/index.ts"),
        import("../../talos/version/index.ts"),
        import("../../talos/clock.ts"),
      ]);
    const version =
      planned.talos_version === null
        ? versions.defaultTalosVersion
        : versions.TalosVersion.parse(planned.talos_version);
    const fresh = await generateSecrets({ contract: version.contract, clock: systemClock, entropy: systemEntropy });
    return { talos_version: planned.talos_version, id: caFingerprint(fresh), bundle: encodeSecrets(fresh) };
  },

  async read({ state }) {
    return state;
  },

  async update({ prior, planned }) {
    return { ...prior, talos_version: planned.talos_version };
  },

  async delete() {
    // The bundle ends with the state that held it.
  },

  moves: [
    {
      type: "talos_machine_secrets",
      state: async (source) => {
        const [{ bundleOfMachineSecrets }, { caFingerprint, encodeSecrets }] = await Promise.all([
          import("../../model/adopt/index.ts"),
          import("../../talos/secrets/index.ts"),
        ]);
        const found = bundleOfMachineSecrets(source.machine_secrets, "talos_machine_secrets.machine_secrets");
        return { id: caFingerprint(found), bundle: encodeSecrets(found) };
      },
    },
  ],

  async import({ id, client }) {
    const { caFingerprint, encodeSecrets, parseSecrets } = await import("../../talos/secrets/index.ts");
    const found = parseSecrets(await client.sealedText(id), id);
    return { id: caFingerprint(found), bundle: encodeSecrets(found) };
  },
};
