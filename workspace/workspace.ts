// SPDX-License-Identifier: Apache-2.0
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type Claim,
  type ClusterSpec,
  type DesiredCluster,
  desiredCluster,
  type EngineOptions,
  findPoolMachines,
  journalFile,
  journalPath,
  type MachineSpec,
  type Policy,
  withPoolMachines,
} from "../engine/index.ts";
import {
  type Environment,
  fileReader,
  knownAddresses,
  placeOfPatch,
  type ReadFile,
  withoutKubernetes,
  withTexts,
} from "../model/index.ts";
import { TalosError } from "../talos/errors.ts";
import type { SecretsBundle } from "../talos/secrets/index.ts";
import { ClientFiles } from "./client-files.ts";
import { environmentSpec } from "./cluster-spec.ts";
import type { EnvironmentOnDisk, WorkspaceContext } from "./context.ts";
import { type EditedEnvironment, refuseEditedSince, saveTexts } from "./environment-file.ts";
import { runsWithoutTerraform } from "./machine-source.ts";
import { absentMachines, EnvironmentMachines, isBegun, type MachineAddresses } from "./machines.ts";
import { claimOf } from "./owner.ts";
import { readPatchFiles } from "./patch-files.ts";
import { findEnvironment, notDeployed, type OpenOptions, openEnvironment } from "./project.ts";
import { EnvironmentSecrets } from "./secrets.ts";
import { stackSpec } from "./stack-spec.ts";
import { appCommand, stackDirectory } from "./terraform/prepare-stack.ts";
import { recordedBucket, recordedSpec } from "./terraform/recorded-spec.ts";
import { ownedByTerraform, readState, stateFile } from "./terraform/state-file.ts";

/** A cluster that was deployed. */
export interface DeployedCluster {
  /** What `desired` was made of, with these secrets. */
  readonly spec: ClusterSpec;
  readonly desired: DesiredCluster;
  /** Machines of the file that are still to be made, and not part of `desired`. */
  readonly absent: readonly string[];
  readonly secrets: SecretsBundle;
}

interface DesiredOptions {
  /** Machines that are to leave. */
  readonly leaving?: readonly MachineSpec[];
  /** Whether the whole cluster goes: what main.ts adds to it is not asked for then. @default false */
  readonly goes?: boolean;
  /** Secret patches for every machine. @default what the environment's patch files hold */
  readonly patches?: readonly string[];
}

/**
 * One environment of a project on disk: the only way from command line, web console and operator to the engine. Nothing
 * is read before it is asked for; what was read stays the same for as long as the workspace is open.
 */
export class Workspace implements EnvironmentOnDisk {
  readonly root: string;
  readonly environment: Environment;
  readonly context: WorkspaceContext;
  readonly secrets: EnvironmentSecrets;
  readonly machines: EnvironmentMachines;
  readonly clientFiles: ClientFiles;
  readonly #patches = once(() => readPatchFiles(this));
  /** The bucket for backups that was made with the infrastructure; undefined where its state has none. */
  readonly backupBucket: () => Promise<string | undefined> = once(() => recordedBucket(this));
  #unsaved: ReadonlyMap<string, string>;
  readonly #before: ReadFile;
  #byFile = false;
  #lasting: Workspace | undefined;
  /** The deployed cluster without the machines of scaling pools, which come and go while all else stays the same. */
  readonly #recorded: () => Promise<DeployedCluster>;
  /** A cluster that was made before. Throws `not-found` where there is none, or its secrets are lost. */
  readonly deployed: () => Promise<DeployedCluster>;

  constructor(place: EnvironmentOnDisk, recorded?: () => Promise<DeployedCluster>) {
    const { root, environment, context, unsaved = new Map(), before = fileReader(root) } = place;
    this.root = root;
    this.environment = environment;
    this.context = context;
    this.#unsaved = unsaved;
    this.#before = before;
    this.secrets = new EnvironmentSecrets(this);
    this.machines = new EnvironmentMachines(this);
    this.clientFiles = new ClientFiles(this);
    this.#recorded = recorded ?? once(() => this.#open());
    this.deployed = once(async () => withScaledMachines(await this.#recorded(), context.signal));
  }

  get name(): string {
    return this.environment.name;
  }

  get unsaved(): ReadonlyMap<string, string> {
    return this.#unsaved;
  }

  /** The same project with other texts in its files, which are on disk after `save` only. */
  edited({ environment, texts, before }: EditedEnvironment): Workspace {
    return new Workspace({ ...this.#place, environment, unsaved: texts, before });
  }

  /** The same for one run in which nothing waits for Kubernetes. The texts that say so are never saved. */
  withoutKubernetes(): Workspace {
    const { environment, read } = this;
    const unsaved = new Map([...this.#unsaved, ...withoutKubernetes(environment, read)]);
    const rollout = { ...environment.rollout, healthLevel: "talos" as const };
    const run = new Workspace({ ...this.#place, environment: { ...environment, rollout }, unsaved }, this.#recorded);
    run.#lasting = this;
    return run;
  }

  /** The same without what is set for one run alone. */
  get lasting(): Workspace {
    return this.#lasting ?? this;
  }

  /** Writes the texts that this workspace was opened with, if any. Throws, and writes none, where a file was edited meanwhile. */
  async save(): Promise<void> {
    if (this.#lasting !== undefined) return this.#lasting.save();
    refuseEditedSince(this.root, this.#unsaved.keys(), this.#before);
    await saveTexts(this.root, this.#unsaved);
    this.#unsaved = new Map();
  }

  /** The same cluster, for work that another signal stops. */
  until(signal: AbortSignal): Workspace {
    const until = new Workspace({ ...this.#place, context: { ...this.context, signal } }, this.#recorded);
    until.#byFile = this.#byFile;
    until.#lasting = this.#lasting;
    return until;
  }

  /** The same environment by its file alone, without what main.ts adds: to observe a cluster while main.ts is broken. */
  byFileAlone(): Workspace {
    const byFile = new Workspace(this.#place);
    byFile.#byFile = true;
    return byFile;
  }

  /** The environment whose cluster the workers of this one join; undefined where it has a cluster of its own. */
  get joined(): Workspace | undefined {
    const { root, environment, context } = this;
    return environment.joins && new Workspace({ root, environment: environment.joins, context });
  }

  /** The files of the project, by their path from its root. */
  get read(): ReadFile {
    return withTexts(fileReader(this.root), this.#unsaved);
  }

  /** How careful the engine is with this environment's machines. */
  get policy(): Policy {
    return this.environment.rollout;
  }

  /** What work without Terraform claims of the cluster: one that a state elsewhere has is refused. */
  get claim(): Claim {
    return claimOf(this);
  }

  /** The cluster as the file wants it on these machines. */
  async desired(
    secrets: SecretsBundle,
    addresses: MachineAddresses,
    how: DesiredOptions = {},
  ): Promise<DesiredCluster> {
    return desiredCluster(await this.#spec(addresses, how), secrets);
  }

  /** The same on machines that are made where that is not Terraform's work; of others its state says what they are. */
  async desiredAgain(secrets: SecretsBundle): Promise<DesiredCluster> {
    const { name, kind } = this.environment;
    if (runsWithoutTerraform(kind)) {
      // Metal that Terraform took into the cluster is in its state: a record of our own would outlive that.
      const isRecorded = kind === "metal" && (await ownedByTerraform(this));
      return this.desired(secrets, await (isRecorded ? this.machines.find() : this.machines.ensure()));
    }
    const spec = await recordedSpec(this);
    if (spec !== undefined) return desiredCluster(spec, secrets);
    throw new TalosError("not-found", `${name} is not deployed: its state has no cluster`, {
      hint: `A backup is restored onto machines. Make them: talosmith deploy ${name}`,
    });
  }

  /** What every procedure of the engine takes, for this cluster: by default the deployed one. */
  async engineOptions(): Promise<EngineOptions> {
    return this.engineOptionsFor(await this.deployed());
  }

  engineOptionsFor({ desired, secrets }: Pick<DeployedCluster, "desired" | "secrets">): EngineOptions {
    const { root: directory, policy } = this;
    // Where the provider keeps it, too: one journal, with Terraform or without.
    const journal = journalFile(join(directory, journalPath(desired.name)));
    return { desired, secrets, policy, journal, directory, signal: this.context.signal };
  }

  get #place(): EnvironmentOnDisk {
    const { root, environment, context, unsaved } = this;
    return { root, environment, context, unsaved, before: this.#before };
  }

  async #spec(
    addresses: MachineAddresses,
    { leaving = [], goes = false, patches }: DesiredOptions,
  ): Promise<ClusterSpec> {
    const secret = patches ?? (await this.#patches());
    const spec =
      !goes && !this.#byFile && appCommand(this.root) !== undefined
        ? await stackSpec(this, addresses, { leaving, patches: secret })
        : environmentSpec(this.environment, addresses, leaving, secret);
    return { ...spec, placeOf: (place) => placeOfPatch(this.environment, this.read, place) };
  }

  /** While the first apply makes the cluster, it is in no state: then the stack says what it will be, where the file has all addresses. */
  async #specInCreation(): Promise<ClusterSpec | undefined> {
    const { cluster, name } = this.environment;
    const addresses = new Map(
      [...knownAddresses(this.environment)].map(([machine, address]) => [machine, { address }]),
    );
    if (addresses.size === 0 || !existsSync(join(this.root, "generated/.creating", cluster.name))) return undefined;
    const isWritten = existsSync(join(stackDirectory(this.root, name), "cdk.tf.json"));
    return isWritten ? stackSpec(this, addresses, { leaving: [], patches: await this.#patches() }) : undefined;
  }

  async #open(): Promise<DeployedCluster> {
    const { name } = this.environment;
    // A state that cannot be read may own the cluster.
    await readState(stateFile(this.root, name));
    const { spec, absent } = await this.#deployedSpec();
    const secrets = await this.secrets.find();
    if (secrets === undefined)
      throw this.secrets.lost(
        `If it was deployed, put its secrets file back: without it nobody can speak to the machines. If not, deploy it: talosmith deploy ${name}`,
      );
    return { spec, desired: desiredCluster(spec, secrets), absent, secrets };
  }

  /** What the file says of machines that are there; of those that Terraform makes, what its state says. */
  async #deployedSpec(): Promise<Pick<DeployedCluster, "spec" | "absent">> {
    const { name, kind } = this.environment;
    if (!runsWithoutTerraform(kind)) {
      const spec = (await recordedSpec(this)) ?? (await this.#specInCreation());
      if (spec === undefined) throw notDeployed(name, "its state has no cluster");
      return { spec, absent: [] };
    }
    const addresses = await this.machines.find();
    const absent = absentMachines(this.environment, addresses);
    if (!isBegun(this.environment, addresses)) throw notDeployed(name, `no machine ${absent.join(", ")}`);
    return { spec: await this.#spec(addresses, { leaving: await this.machines.surplus() }), absent };
  }
}

/**
 * The workspace of an environment. `warn`: what is unwise in its file is printed, but stops nothing. Without it, the
 * cluster is taken as it is: `existing`.
 */
export function openWorkspace(
  name: string,
  context: WorkspaceContext,
  { warn = false, existing = !warn }: OpenOptions & { readonly warn?: boolean } = {},
): Workspace {
  const open = warn ? openEnvironment : findEnvironment;
  return new Workspace(open(name, context, { existing }));
}

/** The same with the machines that its scaling pools have now; without them where Kubernetes does not answer. */
async function withScaledMachines(cluster: DeployedCluster, signal: AbortSignal): Promise<DeployedCluster> {
  const { machines } = await findPoolMachines(cluster.spec, cluster.secrets, signal);
  if (machines.length === 0) return cluster;
  const spec = withPoolMachines(cluster.spec, machines);
  return { ...cluster, spec, desired: desiredCluster(spec, cluster.secrets) };
}

/** Computed at the first use; after a failure again at the next. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined;
  return () => {
    known ??= make().catch((error) => {
      known = undefined;
      throw error;
    });
    return known;
  };
}
