// SPDX-License-Identifier: Apache-2.0
import { type Attributes, attribute, DiagnosticError, path, type Resource, type StateOf } from "../framework/index.ts";
import type { Client } from "./client.ts";
import { leaveCluster } from "./member-leave.ts";
import { clusterOf, fromOfficial } from "./official-moves.ts";
import { memoryText, removalClaim } from "./ownership.ts";
import { liftProtection, machineAddress, notImportable, oneOf } from "./value-rules.ts";

const attributes = {
  name: attribute.required.string("The machine's name in its cluster.", { replaces: true }),
  cluster: attribute.required.string("Name of the cluster.", { replaces: true }),
  machine_id: attribute.required.string(
    "Identity of the machine itself: the id of the instance, the domain or the simulated machine. The membership is replaced together with it.",
    { replaces: true },
  ),
  address: machineAddress,
  talos_endpoints: attribute.optional.stringList(
    "Through which the Talos API is reached, as in the machine's `talosmith_cluster`.",
  ),
  config_source: attribute.optional.string(
    "How the machine gets its initial config, as in its `talosmith_cluster`: `api` or `user-data`.",
    { validators: [oneOf("api", "user-data")] },
  ),
  on_destroy: attribute.defaulted.string(
    "`leave` takes the machine out of the cluster before it is destroyed (default), `keep` does nothing, `prevent` refuses.",
    { default: "leave", validators: [oneOf("leave", "keep", "prevent")] },
  ),
  id: attribute.computed.string("For `member_id` of the machine in its cluster, so that Terraform keeps the order.", {
    stable: true,
  }),
} satisfies Attributes;

type MemberState = StateOf<typeof attributes>;

/**
 * One machine's membership. Terraform destroys a removed machine before it updates the cluster that listed it; this
 * resource stands in between, and its destroy does the leaving.
 */
export const member: Resource<typeof attributes, Client> = {
  name: "talosmith_member",
  description:
    "The membership of one machine in a cluster: made after the machine, destroyed before it. Its destroy moves the pods away, leaves etcd, wipes the disk and deletes the node, and refuses where etcd would lose its majority.",
  attributes,
  timeouts: { delete: "20m" },

  plan({ prior, planned }) {
    const kept = (name: "name" | "cluster" | "machine_id") => prior?.[name] === planned[name];
    if (prior !== null && !(kept("name") && kept("cluster") && kept("machine_id"))) refuseProtected(prior, "replaced");
    return {};
  },

  planDelete: ({ state }) => refuseProtected(state, "removed"),

  async create({ planned, client, remember }) {
    remember(memoryText("", client));
    return { ...(planned as MemberState), id: `${planned.cluster}/${planned.machine_id}` };
  },

  async read({ state }) {
    return state;
  },

  async update({ prior, planned }) {
    return { ...(planned as MemberState), id: prior.id };
  },

  async delete({ state, remembered, ...operation }) {
    // A replacement that the user forces (-replace) is not shown to the provider before this.
    refuseProtected(state, "removed");
    if (state.on_destroy !== "keep")
      await leaveCluster(state, operation, removalClaim(operation.client, remembered, false));
  },

  identity: {
    attributes: {
      cluster: "Name of the cluster.",
      name: "The machine's name in it.",
      machine_id: "Identity of the machine itself.",
      address: "Where its Talos API answers.",
    },
    of: ({ cluster, name, machine_id, address }) => ({ cluster, name, machine_id, address }),
    idOf: ({ cluster, name, machine_id, address }) => [cluster, name, machine_id, address].join(","),
  },

  import: async ({ id }) => importMember(id),

  moves: [
    // The official provider knows no machine but by its address, as existing machines (metal) are known.
    fromOfficial("talos_machine_configuration_apply", async (request) => {
      const { id: address } = request;
      const { cluster, self } = await clusterOf(request);
      const names = { name: self, cluster: cluster.name, machine_id: address, id: `${cluster.name}/${address}` };
      return { ...names, address, on_destroy: "leave" };
    }),
  ],
};

/** Nobody can tell which machine of an infrastructure a node is, so the user says it all. */
function importMember(id: string) {
  const [cluster, name, machine_id, address, ...rest] = id.split(",");
  if (!cluster || !name || !machine_id || !address || rest.length > 0)
    throw notImportable(
      "Not a membership",
      id,
      "the cluster's name, the machine's name, its machine_id and its address, with commas between them.",
    );
  return { cluster, name, machine_id, address, on_destroy: "leave", id: `${cluster}/${machine_id}` };
}

function refuseProtected({ name, on_destroy }: Pick<MemberState, "name" | "on_destroy">, what: string): void {
  if (on_destroy !== "prevent") return;
  throw new DiagnosticError({
    summary: "The machine is protected",
    detail: `on_destroy of ${name} is "prevent": the machine can't be ${what}. ${liftProtection}`,
    path: path("on_destroy"),
  });
}
