// SPDX-License-Identifier: Apache-2.0
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AddonOptions, AddonSources, Release } from "../../engine/addon/index.ts";
import { addonSettings, givenIn, withDefaults } from "../../model/settings/index.ts";
import {
  type Attributes,
  attribute,
  type ConfigOf,
  DiagnosticError,
  isUnknown,
  isWhollyKnown,
  type Operation,
  type PlanOf,
  path,
  type Resource,
  type StateOf,
  type Unknown,
  unknown,
  type Value,
} from "../framework/index.ts";
import { fetchKubeconfig, withControlPlanes } from "./access.ts";
import type { Client } from "./client.ts";
import { changedSincePlan } from "./own-files.ts";
import { attributesOf } from "./setting-attributes.ts";
import { reasonOf } from "./translate-error.ts";
import { controlPlaneAddresses, notImportable, oneOf } from "./value-rules.ts";

const { name, namespace, ...settings } = attributesOf(addonSettings);

const attributes = {
  name: { ...name, replaces: true },
  namespace: { ...namespace, replaces: true },
  ...settings,
  endpoints: controlPlaneAddresses,
  values: attribute.optional.stringList(
    "Values as YAML texts, later ones win. They are in plan and state: secrets belong into `values_files`.",
  ),
  on_destroy: attribute.defaulted.string(
    "`uninstall` takes the release away, `keep` leaves it, as for a pod network that ends with its cluster.",
    { default: "uninstall", validators: [oneOf("uninstall", "keep")] },
  ),
  id: attribute.computed.string("Namespace and name.", { stable: true }),
  fingerprint: attribute.computed.string(
    "Hash of chart, version and all values, files included; empty when somebody else changed the release.",
  ),
  revision: attribute.computed.integer("Helm's number of the release's present form."),
  status: attribute.computed.string("As helm tells it, such as `deployed`."),
  chart_version: attribute.computed.string("Chart and version, such as `cilium-1.19.4`."),
} satisfies Attributes;

type Schema = typeof attributes;
type State = StateOf<Schema>;

const fresh = { revision: unknown, status: unknown, chart_version: unknown };

/** One Helm release, by the real helm. */
export const addon: Resource<Schema, Client> = {
  name: "talosmith_addon",
  description:
    "A Helm release in the cluster, installed and upgraded by the `helm` program: waited for, rolled back when it does not become ready. Without helm on the PATH the plan fails, before anything is changed.",
  attributes,
  timeouts: { create: "20m", update: "20m", delete: "10m" },

  validate({ config, diagnostics }) {
    const { credentials } = config;
    if (credentials === null || isUnknown(credentials)) return;
    const { password_env: variable, password_file: file } = credentials;
    if (isUnknown(variable) || isUnknown(file) || (variable === null) !== (file === null)) return;
    diagnostics.error({
      summary: "One password",
      detail: `Found ${variable === null ? "neither" : "both"}; expected either password_env or password_file.`,
      path: path("credentials"),
    });
  },

  async plan({ prior, planned, changed, client, diagnostics }) {
    const { findHelm } = await import("../../engine/addon/index.ts");
    findHelm(client.environment);
    const id =
      typeof planned.namespace === "string" && typeof planned.name === "string"
        ? `${planned.namespace}/${planned.name}`
        : unknown;
    let fingerprint: string | Unknown | null;
    try {
      fingerprint = await plannedFingerprint(planned, client);
    } catch (error) {
      // Terraform plans like this before a destroy too, and a destroy needs no file.
      if (prior === null || changed || (error as { code?: unknown }).code !== "not-found") throw error;
      const detail = `${(error as Error).message}. The release stays as it is; the next change needs the file again.`;
      diagnostics.warning({ summary: "A file of the add-on is missing", detail });
      fingerprint = prior.fingerprint;
    }
    if (prior === null) return { values: { id, fingerprint, ...fresh } };
    // Whatever else has changed, such as a timeout, makes no new revision.
    const same = prior.fingerprint === fingerprint && prior.status === "deployed";
    if (!same) return { values: { id, fingerprint, ...fresh } };
    const { revision, status, chart_version } = prior;
    return { values: { id, fingerprint, revision, status, chart_version } };
  },

  create: ({ planned, ...operation }) => apply(planned, operation),
  update: ({ planned, ...operation }) => apply(planned, operation),

  async read({ state, ...operation }) {
    const { findHelm, releaseWithHash, releasesOf } = await import("../../engine/addon/index.ts");
    findHelm(operation.client.environment);
    try {
      return await onCluster(state.endpoints, operation, async (access) => {
        const release = await releasesOf(access).find(state);
        if (release === undefined) return null;
        const ours = await releaseWithHash(state, state.fingerprint ?? "", access);
        const fingerprint = ours?.revision === release.revision ? state.fingerprint : null;
        return { ...state, ...facts(release), fingerprint };
      });
    } catch (error) {
      operation.diagnostics.warning({ summary: "The add-on could not be checked", detail: reasonOf(error) });
      return state;
    }
  },

  async delete({ state, ...operation }) {
    if (state.on_destroy === "keep") return;
    const { removeAddon } = await import("../../engine/addon/index.ts");
    await onCluster(state.endpoints, operation, (access) => removeAddon(state, access));
  },

  identity: {
    attributes: {
      address: "Address of a control plane of its cluster.",
      namespace: "Namespace of the release.",
      name: "Name of the release.",
    },
    of: ({ endpoints: [address], namespace, name }) =>
      address === undefined || namespace === null ? undefined : { address, namespace, name },
    idOf: ({ address, namespace, name }) => `${address}/${namespace}/${name}`,
  },

  async import({ id, ...operation }) {
    const [, address, namespace, name] = /^(.+)\/([^/]+)\/([^/]+)$/.exec(id) ?? [];
    if (address === undefined || namespace === undefined || name === undefined)
      throw notImportable(
        "Not the address of a release",
        id,
        "the address of a control plane, the namespace and the release's name, such as 10.0.0.70/kube-system/cilium.",
      );
    const { releasesOf } = await import("../../engine/addon/index.ts");
    const release = await onCluster([address], operation, (access) => releasesOf(access).find({ name, namespace }));
    if (release === undefined)
      throw new DiagnosticError({
        summary: "No such release",
        detail: `There is no Helm release ${name} in ${namespace}. All are listed by: helm list --all-namespaces`,
      });
    return {
      name,
      namespace,
      endpoints: [address],
      on_destroy: "uninstall",
      id: `${namespace}/${name}`,
      ...facts(release),
    };
  },
};

async function apply(planned: PlanOf<Schema>, operation: Operation<Client>): Promise<State> {
  const { client, signal } = operation;
  const { addonHash, applyAddon, resolveAddon } = await import("../../engine/addon/index.ts");
  const wished = await resolveAddon(sourcesOf(planned), client.root, client.environment);
  const fingerprint = addonHash(wished);
  if (typeof planned.fingerprint === "string" && planned.fingerprint !== fingerprint)
    throw changedSincePlan("A file of values, or of the chart,", path("values_files"));
  const release = await client.inTurn(operation.clock, () =>
    onCluster(planned.endpoints, operation, async (access) => (await applyAddon(wished, access)).release),
  );
  if (planned.cni === true) await nodesReady(client, planned.endpoints, signal);
  // What has a default is never left unknown.
  return { ...planned, id: `${planned.namespace}/${planned.name}`, fingerprint, ...facts(release) } as State;
}

function facts({ revision, status, chart }: Release): Pick<State, "revision" | "status" | "chart_version"> {
  return { revision, status, chart_version: chart };
}

/** Unknown as long as something that goes into it is. */
async function plannedFingerprint(planned: ConfigOf<Schema>, client: Client) {
  const { chart, repository, version, values, values_files } = planned;
  if (!isWhollyKnown([chart, repository, version, values, values_files] as unknown as Value)) return unknown;
  const { addonHash, resolveAddon } = await import("../../engine/addon/index.ts");
  const sources = sourcesOf({ ...planned, credentials: null, timeout: null } as unknown as PlanOf<Schema>);
  return addonHash(await resolveAddon(sources, client.root, client.environment));
}

function sourcesOf(planned: PlanOf<Schema>): AddonSources {
  const { namespace, values } = planned;
  return { ...withDefaults(addonSettings, givenIn(addonSettings, planned)), namespace, values: values ?? [] };
}

/** Runs work with helm on the cluster of these control planes. */
export async function onCluster<T>(
  endpoints: readonly string[],
  { client, signal }: Operation<Client>,
  work: (access: AddonOptions) => Promise<T>,
): Promise<T> {
  const { findHelm } = await import("../../engine/addon/index.ts");
  const helm = findHelm(client.environment);
  return withKubeconfig(client, endpoints, signal, (kubeconfig) => work({ helm, kubeconfig, signal }));
}

/** Lends an admin kubeconfig as a file for its owner alone, and takes it away whatever happens. */
async function withKubeconfig<T>(
  client: Client,
  endpoints: readonly string[],
  signal: AbortSignal,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const { writeFileAtomically } = await import("../../talos/atomic-file.ts");
  const { withTemporaryFolder } = await import("../../talos/process-folder.ts");
  const kubeconfig = await fetchKubeconfig(client, endpoints, signal);
  return withTemporaryFolder("kubeconfig", async (folder) => {
    await writeFileAtomically(join(folder, "kubeconfig"), kubeconfig);
    return work(join(folder, "kubeconfig"));
  });
}

const pause = 1_000;

/** Waits until every node of the cluster is ready, for as long as the signal allows. */
async function nodesReady(client: Client, endpoints: readonly string[], signal: AbortSignal): Promise<void> {
  const { TalosError } = await import("../../talos/errors.ts");
  let missing = "they were not checked yet";
  await withControlPlanes(client, endpoints, async ({ kubernetes }) => {
    while (!signal.aborted) {
      const seen = await kubernetes.observe(signal);
      const waiting = seen.kind === "reachable" ? seen.nodes.filter(({ ready }) => !ready) : [];
      if (seen.kind === "reachable" && seen.nodes.length > 0 && waiting.length === 0) return;
      missing = seen.kind === "unreachable" ? seen.reason : `${waiting.map(({ name }) => name).join(", ")} not ready`;
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
    throw new TalosError(
      "deadline-exceeded",
      `the pod network is installed, but the nodes did not become ready: ${missing}`,
    );
  });
}
