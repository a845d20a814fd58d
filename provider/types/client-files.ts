// SPDX-License-Identifier: Apache-2.0
import { textIfThere, writeFileAtomically } from "../../talos/atomic-file.ts";
import { endsSoon, kubeconfigParts } from "../../talos/client-file.ts";
import type { ClientFile, currentClientFiles } from "../../talos/config/index.ts";
import type { SecretsBundle } from "../../talos/secrets/index.ts";
import {
  type Attributes,
  attribute,
  type Operation,
  type PlanOf,
  path,
  type Resource,
  type StateOf,
  unknown,
  type ValidateRequest,
} from "../framework/index.ts";
import { fetchKubeconfig, firstExpiry, issueTalosconfig, nodesOf } from "./access.ts";
import type { Client } from "./client.ts";
import { clusterOf, fromOfficial } from "./official-moves.ts";
import { type OwnFile, readToImport, removeOwn, sha256 } from "./own-files.ts";
import { controlPlaneAddresses, isGiven, notImportable } from "./value-rules.ts";

/** Of which cluster the files are, and where they lie. */
export const clientFilePlaces = {
  cluster_name: attribute.required.string("Name of the cluster; the context in both files."),
  endpoints: controlPlaneAddresses,
  nodes: attribute.optional.stringList(
    "Machines that talosctl speaks about when none is named. Default: the first of `endpoints`; `talosctl health`, `kubeconfig` and `bootstrap` take one only.",
  ),
  kubeconfig_path: attribute.required.string("Where the kubeconfig is written, relative to the project's root."),
  talosconfig_path: attribute.required.string("Where the talosconfig is written, relative to the project's root."),
} satisfies Attributes;

const attributes = {
  ...clientFilePlaces,
  keep_on_disk: attribute.defaulted.bool(
    "Whether a file that is missing, or is not as it was written, is written again by the next apply.",
    { default: true },
  ),
  contents: attribute.optional.stringList(
    "Files whose content is kept in the state as well, for an output: `kubeconfig`, `talosconfig`. Default: none. Better are the ephemeral types, which reach no state.",
    {
      validators: [
        (names, path, diagnostics) => {
          for (const name of names.filter((name) => name !== "kubeconfig" && name !== "talosconfig"))
            diagnostics.error({
              summary: "Not one of the two files",
              detail: `Found ${JSON.stringify(name)}; expected kubeconfig or talosconfig.`,
              path,
            });
        },
      ],
    },
  ),
  // One attribute for both: terraform keeps sensitive paths in any order, and takes another order of two for drift.
  files: attribute.computed.stringMap("The files that `contents` asks for, by these names.", {
    stable: true,
    sensitive: true,
  }),
  id: attribute.computed.string("The cluster's name.", { stable: true }),
  kubeconfig_fingerprint: attribute.computed.string(
    "SHA-256 of the kubeconfig; empty when a refresh found it missing, or changed so that it gives no access.",
    { stable: true },
  ),
  talosconfig_fingerprint: attribute.computed.string(
    "SHA-256 of the talosconfig; empty when a refresh found it missing, or changed so that it gives no access.",
    { stable: true },
  ),
  expires_at: attribute.computed.string(
    "When the first of the certificates in the files expires. Renewed by an apply in the 30 days before.",
    { stable: true },
  ),
} satisfies Attributes;

type Schema = typeof attributes;
type State = StateOf<Schema>;

/** kubeconfig and talosconfig on disk, readable by the user alone; the state holds fingerprints and a date. */
export const clientFiles: Resource<Schema, Client> = {
  name: "talosmith_client_files",
  description:
    "The files that give access to a cluster: a kubeconfig and a talosconfig, written whole and with mode 0600. Their content is not in the state, unless `contents` asks for it.",
  attributes,
  version: 1,
  upgraders: {
    // Each file had an attribute of its own.
    0: ({ kubeconfig = null, talosconfig = null, ...state }) => ({
      ...state,
      files: { ...(kubeconfig !== null && { kubeconfig }), ...(talosconfig !== null && { talosconfig }) },
    }),
  },
  timeouts: { create: "5m", update: "5m" },

  validate: twoPaths,

  plan({ prior, planned, changed }) {
    const files = planned.contents === null ? {} : unknown;
    if (prior === null) return { values: { id: planned.cluster_name ?? unknown, files } };
    const lost = prior.kubeconfig_fingerprint === null || prior.talosconfig_fingerprint === null;
    const old = prior.expires_at !== null && endsSoon(new Date(prior.expires_at), new Date());
    if (!changed && !lost && !old) return {};
    const fresh = { kubeconfig_fingerprint: unknown, talosconfig_fingerprint: unknown, expires_at: unknown };
    return { values: { id: planned.cluster_name ?? unknown, ...fresh, files } };
  },

  async create(request) {
    return writeFiles(request.planned, request);
  },

  async read({ state, client }) {
    if (state.keep_on_disk === false) return state;
    const [kubeconfig, talosconfig] = await Promise.all([
      textIfThere(client.path(state.kubeconfig_path)),
      textIfThere(client.path(state.talosconfig_path)),
    ]);
    const known = [kubeconfig, talosconfig].map((text) => (text === undefined ? null : sha256(text)));
    const asWritten = known[0] === state.kubeconfig_fingerprint && known[1] === state.talosconfig_fingerprint;
    if (asWritten) return state;
    // Somebody may have renewed a file, `talosmith kubeconfig` for one. As long as it gives access, it is no diff.
    const secrets = await client.secrets.find();
    const good = secrets === undefined ? none : await giveAccess({ kubeconfig, talosconfig }, state, secrets);
    const kept = (name: ClientFile, found: string | null | undefined, before: string | null) =>
      found === before || good[name] ? (found ?? null) : null;
    return {
      ...state,
      kubeconfig_fingerprint: kept("kubeconfig", known[0], state.kubeconfig_fingerprint),
      talosconfig_fingerprint: kept("talosconfig", known[1], state.talosconfig_fingerprint),
      expires_at:
        good.kubeconfig && good.talosconfig
          ? await firstExpiryOf({ kubeconfig: kubeconfig ?? "", talosconfig: talosconfig ?? "" })
          : state.expires_at,
    };
  },

  async update({ prior, planned, ...operation }) {
    const state = await writeFiles(planned, operation);
    const written = filesOf(state, operation.client).map((file) => file.path);
    const abandoned = filesOf(prior, operation.client).filter((file) => !written.includes(file.path));
    await removeOwn(abandoned, operation.diagnostics);
    return state;
  },

  identity: {
    attributes: { kubeconfig_path: "Path of the kubeconfig.", talosconfig_path: "Path of the talosconfig." },
    of: ({ kubeconfig_path, talosconfig_path }) => ({ kubeconfig_path, talosconfig_path }),
    idOf: ({ kubeconfig_path, talosconfig_path }) => `${kubeconfig_path},${talosconfig_path}`,
  },

  async import({ id, client }) {
    const [kubeconfig_path, talosconfig_path, ...others] = id.split(",");
    if (!kubeconfig_path || !talosconfig_path || others.length > 0)
      throw notImportable("Not two paths", id, "the paths of kubeconfig and talosconfig with a comma between them.");
    // One after the other, so that of two that are missing the first is told.
    const kubeconfig = (await readToImport(client, kubeconfig_path)).toString();
    const talosconfig = (await readToImport(client, talosconfig_path)).toString();
    const { parseTalosconfig } = await import("../../talos/config/index.ts");
    const { context, contexts } = parseTalosconfig(talosconfig, talosconfig_path);
    const { endpoints, nodes, credentials } = contexts.get(context) ?? { endpoints: [] };
    // What is written where `nodes` is not set, now and formerly.
    const standard = [endpoints.slice(0, 1).join(), endpoints.join()];
    const certificates = credentials === undefined ? [] : [credentials.certificate];
    return {
      cluster_name: context,
      endpoints,
      nodes: nodes === undefined || standard.includes(nodes.join()) ? null : nodes,
      kubeconfig_path,
      talosconfig_path,
      keep_on_disk: true,
      contents: null,
      files: {},
      id: context,
      kubeconfig_fingerprint: sha256(kubeconfig),
      talosconfig_fingerprint: sha256(talosconfig),
      expires_at: firstExpiry([...certificates, kubeconfigParts(kubeconfig).clientCertificate]),
    };
  },

  moves: [
    // It keeps its kubeconfig in the state and writes no files: here they are where an environment has them, and are written
    // with the next change.
    fromOfficial("talos_cluster_kubeconfig", async (request) => {
      const { cluster } = await clusterOf(request);
      return {
        cluster_name: cluster.name,
        endpoints: cluster.machines.flatMap(({ role, address }) => (role === "controlplane" ? [address] : [])),
        kubeconfig_path: `generated/${cluster.name}/kubeconfig`,
        talosconfig_path: `generated/${cluster.name}/talosconfig`,
        keep_on_disk: false,
        files: {},
        id: cluster.name,
        kubeconfig_fingerprint: "",
        talosconfig_fingerprint: "",
      };
    }),
  ],

  async delete({ state, client, diagnostics }) {
    await removeOwn(filesOf(state, client), diagnostics);
  },
};

function filesOf(state: State, client: Client): readonly OwnFile[] {
  return [
    { path: client.path(state.kubeconfig_path), fingerprint: state.kubeconfig_fingerprint },
    { path: client.path(state.talosconfig_path), fingerprint: state.talosconfig_fingerprint },
  ];
}

/** Refuses one path for both files. */
export function twoPaths({ config, diagnostics }: ValidateRequest<typeof clientFilePlaces>): void {
  const { kubeconfig_path: kubeconfig, talosconfig_path: talosconfig } = config;
  if (!isGiven(kubeconfig) || kubeconfig !== talosconfig) return;
  diagnostics.error({
    summary: "One path for two files",
    detail: `Both files would be ${kubeconfig}; expected a path of its own for each.`,
    path: path("talosconfig_path"),
  });
}

interface IssuedFiles {
  readonly kubeconfig: string;
  readonly talosconfig: string;
  /** When the first of the certificates expires. */
  readonly expiresAt: string;
}

/** Writes both files with new certificates. */
export async function issueClientFiles(
  places: PlanOf<typeof clientFilePlaces>,
  { client, signal, log }: Operation<Client>,
): Promise<IssuedFiles> {
  const { text: talosconfig, credentials } = await issueTalosconfig(await client.secrets.of(null), {
    clusterName: places.cluster_name,
    endpoints: places.endpoints,
    nodes: nodesOf(places),
  });
  const kubeconfig = await fetchKubeconfig(client, places.endpoints, signal);
  await writeFileAtomically(client.path(places.kubeconfig_path), kubeconfig);
  await writeFileAtomically(client.path(places.talosconfig_path), talosconfig);
  log("info", "client files written", { cluster: places.cluster_name });
  const certificates = [credentials.certificate, kubeconfigParts(kubeconfig).clientCertificate];
  return { kubeconfig, talosconfig, expiresAt: firstExpiry(certificates) };
}

async function writeFiles(planned: PlanOf<Schema>, operation: Operation<Client>): Promise<State> {
  const { expiresAt, ...files } = await issueClientFiles(planned, operation);
  return {
    ...planned,
    keep_on_disk: planned.keep_on_disk !== false,
    files: Object.fromEntries(Object.entries(files).filter(([name]) => planned.contents?.includes(name))),
    id: planned.cluster_name,
    kubeconfig_fingerprint: sha256(files.kubeconfig),
    talosconfig_fingerprint: sha256(files.talosconfig),
    expires_at: expiresAt,
  };
}

const none = { kubeconfig: false, talosconfig: false };

async function giveAccess(
  texts: Parameters<typeof currentClientFiles>[0],
  { cluster_name: clusterName, endpoints, nodes }: State,
  secrets: SecretsBundle,
): Promise<typeof none> {
  const { currentClientFiles } = await import("../../talos/config/index.ts");
  return currentClientFiles(
    texts,
    { clusterName, endpoints, nodes: nodesOf({ endpoints, nodes }) },
    secrets,
    new Date(),
  );
}

async function firstExpiryOf(texts: Readonly<Record<ClientFile, string>>): Promise<string> {
  const { clientIdentity } = await import("../../talos/config/index.ts");
  const identities = [clientIdentity("kubeconfig", texts.kubeconfig), clientIdentity("talosconfig", texts.talosconfig)];
  return firstExpiry(identities.flatMap((identity) => (identity === undefined ? [] : [identity.certificate])));
}
