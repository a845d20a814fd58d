// SPDX-License-Identifier: Apache-2.0
import * as z from "zod";
import { TalosError } from "../../talos/errors.ts";
import { given, isGiven } from "../../talos/given.ts";
import { parseSecrets, type SecretsBundle } from "../../talos/secrets/index.ts";
import type { AdoptSource, SourceFile } from "./source.ts";

const stateSchema = z.object({
  version: z.literal(4),
  resources: z.array(
    z.object({
      mode: z.string(),
      type: z.string(),
      name: z.string(),
      module: z.string().optional(),
      instances: z.array(z.object({ attributes: z.record(z.string(), z.unknown()).nullish() })),
    }),
  ),
});

const pair = z.object({ cert: z.string(), key: z.string() });
const bundleSchema = z.object({
  cluster: z.object({ id: z.string(), secret: z.string() }),
  secrets: z.object({
    bootstrap_token: z.string(),
    secretbox_encryption_secret: z.string().nullish(),
    aescbc_encryption_secret: z.string().nullish(),
  }),
  trustdinfo: z.object({ token: z.string() }),
  certs: z.object({
    etcd: pair,
    k8s: pair,
    k8s_aggregator: pair,
    k8s_serviceaccount: z.object({ key: z.string() }),
    os: pair,
  }),
});

type Resource = z.output<typeof stateSchema>["resources"][number];

/** A state of the provider siderolabs/talos: the secrets, and the machines that it applied configs to. */
export function fromProviderState(file: SourceFile): AdoptSource {
  const { name } = file;
  const state = stateSchema.safeParse(parseJson(file));
  if (!state.success)
    throw new TalosError("invalid-input", `${name}: found no Terraform state of version 4`, {
      hint: "Get it with: terraform state pull > state.json",
    });
  const managed = state.data.resources.filter(({ mode }) => mode === "managed");
  const bundles = managed.filter(({ type }) => type === "talos_machine_secrets");
  if (bundles.length > 1)
    throw new TalosError(
      "invalid-input",
      `${name}: found several talos_machine_secrets: ${bundles.map(address).join(", ")}`,
      {
        hint: "Each is a cluster of its own. Pull a state with only one of them, or give the bundle with --secrets.",
      },
    );
  const [bundle] = bundles;
  const applied = managed.filter(
    ({ type }) => type === "talos_machine_configuration_apply" || type === "talos_machine",
  );
  const addresses = applied.flatMap(({ instances }) =>
    instances.flatMap(({ attributes }) => {
      const found = attributes?.node ?? attributes?.endpoint;
      return typeof found === "string" && found !== "" ? [found] : [];
    }),
  );
  return {
    ...given({ secrets: bundle && bundleOf(bundle, name) }),
    addresses: [...new Set(addresses)],
    sections: {},
    notes: [
      `When the plan is empty, let the old state forget the cluster: terraform state rm ${[...bundles, ...applied].map(address).join(" ")}`,
    ],
  };
}

function address({ type, name, module }: Resource): string {
  return [module, type, name].filter(isGiven).join(".");
}

function bundleOf(resource: Resource, file: string): SecretsBundle {
  const where = `${file}: ${address(resource)}.machine_secrets`;
  return bundleOfMachineSecrets(resource.instances[0]?.attributes?.machine_secrets, where);
}

/** The bundle in `machine_secrets` of a `talos_machine_secrets`. `where` is how messages call it. */
export function bundleOfMachineSecrets(machineSecrets: unknown, where: string): SecretsBundle {
  const found = bundleSchema.safeParse(machineSecrets);
  if (!found.success)
    throw new TalosError("invalid-input", `${where}: found no secrets bundle`, {
      hint: "If the secrets are ephemeral, they are not in the state: give them with --secrets.",
    });
  const { cluster, secrets, trustdinfo, certs } = found.data;
  const encoded = ({ cert, key }: z.output<typeof pair>) => ({ crt: cert, key });
  const bundle = {
    cluster,
    secrets: {
      bootstraptoken: secrets.bootstrap_token,
      // JSON leaves out what is undefined.
      secretboxencryptionsecret: secrets.secretbox_encryption_secret || undefined,
      aescbcencryptionsecret: secrets.aescbc_encryption_secret || undefined,
    },
    trustdinfo,
    certs: {
      etcd: encoded(certs.etcd),
      k8s: encoded(certs.k8s),
      k8saggregator: encoded(certs.k8s_aggregator),
      k8sserviceaccount: certs.k8s_serviceaccount,
      os: encoded(certs.os),
    },
  };
  return parseSecrets(JSON.stringify(bundle), where);
}

function parseJson({ name, text }: SourceFile): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TalosError("invalid-input", `${name}: found no JSON`, {
      hint: "Get the state with: terraform state pull > state.json",
    });
  }
}
