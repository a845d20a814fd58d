// SPDX-License-Identifier: Apache-2.0

import * as z from "zod";
import { configDefaults } from "../../talos/config-defaults.ts";
import { given } from "../../talos/given.ts";
import { jsonIn } from "../../talos/plain-text.ts";
import { contractOf } from "../../talos/version/index.ts";
import { isContract } from "../cluster-rules.ts";
import type { Kind } from "../schema/index.ts";
import { selectedWorkspace, workspaceState } from "../state-owner.ts";
import type { ReadFile } from "./references.ts";

/** What the record of a deploy tells of an environment that must not change while the cluster lives. */
export interface RecordedFacts {
  readonly kind?: Kind;
  readonly domain?: string;
  /** Config contract; of states that have none yet, that of their Talos version. */
  readonly contract?: string;
}

/** What the records of an environment say: the local state of the selected Terraform workspace, else that of a deploy without Terraform. */
export function recordedFactsOf(name: string, read: ReadFile): RecordedFacts {
  const state = workspaceState(name, selectedWorkspace(name, read, read.env ?? {}));
  return { ...recordedContract(name, read), ...recordedFacts(read(state) ?? "") };
}

const stateSchema = z.object({
  resources: z.array(
    z.object({
      type: z.string(),
      mode: z.string(),
      instances: z.array(z.object({ attributes: z.unknown() })).default([]),
    }),
  ),
});

const clusterSchema = z.object({
  dns_domain: z.string().nullish(),
  config_contract: z.string().nullish(),
  talos_version: z.string().nullish(),
});

/** What a deploy without Terraform records. */
const machinesSchema = z.object({
  contract: z.string(),
  /** Files of which one has to be there: a simulated machine that is gone leaves no cluster behind. */
  countsWith: z.array(z.string()).optional(),
});

/** The facts in such a record, unless its machines are gone. */
function recordedContract(name: string, read: ReadFile): Pick<RecordedFacts, "contract"> {
  const record = machinesSchema.safeParse(jsonIn(read(`state/${name}.machines.json`) ?? "")).data;
  const counts = record?.countsWith?.some((file) => read(file) !== undefined) ?? true;
  return given({ contract: counts ? record?.contract : undefined });
}

type Recorded = z.output<typeof stateSchema>["resources"];

/** What a machine is made of, by the beginning of its type's name. */
const marks: readonly (readonly [string, Kind])[] = [
  ["talosmith_simulated_machine", "simulated"],
  ["libvirt_", "libvirt"],
  ["aws_", "aws"],
  ["docker_", "container"],
  ["kubernetes_stateful_set", "container"],
];

/** Reads a state file's text. A state that cannot be read tells nothing here: Terraform itself will say so. */
function recordedFacts(text: string): RecordedFacts {
  const state = stateSchema.safeParse(jsonIn(text));
  if (!state.success) return {};
  const managed = state.data.resources.filter(({ mode, instances }) => mode === "managed" && instances.length > 0);
  const cluster = managed.find(({ type }) => type === "talosmith_cluster")?.instances[0]?.attributes;
  const kind = kindOfMembers(managed) ?? kindOfStack(managed, cluster !== undefined);
  const recorded = clusterSchema.safeParse(cluster).data;
  return given({
    kind,
    domain: recorded && (recorded.dns_domain ?? configDefaults.dnsDomain),
    contract: recorded && contractOfRecorded(recorded),
  });
}

function contractOfRecorded({ config_contract, talos_version }: z.output<typeof clusterSchema>): string | undefined {
  if (config_contract && isContract(config_contract)) return config_contract;
  return talos_version ? contractOf({ talosVersion: talos_version }).toString() : undefined;
}

const memberSchema = z.object({ machine_id: z.string(), address: z.string() });
const identitySchema = z.object({
  id: z.string().nullish(),
  metadata: z.array(z.object({ uid: z.string().nullish() })).nullish(),
});

/** By what the members' machines are. A stack may hold whatever else its owner has added to it. */
function kindOfMembers(managed: Recorded): Kind | undefined {
  for (const { attributes } of managed.flatMap(({ type, instances }) =>
    type === "talosmith_member" ? instances : [],
  )) {
    const member = memberSchema.safeParse(attributes).data;
    if (member === undefined) continue;
    // Nothing made it, so it is known by its address.
    if (member.machine_id === member.address) return "metal";
    const machine = managed.find(({ instances }) =>
      instances.some((one) => isCalled(one.attributes, member.machine_id)),
    );
    const mark = marks.find(([start]) => machine?.type.startsWith(start));
    if (mark !== undefined) return mark[1];
  }
  return undefined;
}

function isCalled(attributes: unknown, identity: string): boolean {
  const known = identitySchema.safeParse(attributes).data;
  return known?.id === identity || known?.metadata?.some(({ uid }) => uid === identity) === true;
}

/** Where no member tells: a cluster without machines that Terraform made is on metal. */
function kindOfStack(managed: Recorded, hasCluster: boolean): Kind | undefined {
  const mark = marks.find(([start]) => managed.some(({ type }) => type.startsWith(start)));
  return mark?.[1] ?? (hasCluster ? "metal" : undefined);
}
