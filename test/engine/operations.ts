// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import {
  applyCluster,
  type DesiredCluster,
  desiredCluster,
  destroyCluster,
  type EngineOptions,
  type Journal,
  type JournalEntry,
  leaveCluster,
  type Machines,
  restoreCluster,
  rotateCas,
  rotationPasses,
  withoutConfig,
} from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { beginRotation, nextBundle, type SecretsBundle } from "../../talos/secrets/index.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import { type Lab, lab, testSecrets, wish } from "./fixture.ts";
import { snapshotChunks } from "./world-machines.ts";

/** What a run is given: the world, perhaps through something that interrupts it. */
export type Run = Required<Pick<EngineOptions, "machines" | "timing">> & Pick<EngineOptions, "journal" | "signal">;

/** A cluster before an operation, and the operation as a person would start it, and start it again. */
export interface Prepared {
  readonly lab: Lab;
  /** What the cluster should be afterwards; undefined when it is to be gone. */
  readonly desired: DesiredCluster | undefined;
  run(options: Run): Promise<unknown>;
}

export interface Operation {
  readonly name: string;
  /** As the command does it alone, or by the calls that Terraform makes to the provider. */
  readonly path: "alone" | "terraform";
  prepare(): Promise<Prepared>;
}

async function started(before: DesiredCluster, machines = before, version?: string): Promise<Lab> {
  const made = lab(machines);
  for (const machine of made.world.machines.values()) machine.version = version ?? machine.version;
  await made.apply(before);
  return made;
}

function applied(made: Lab, desired: DesiredCluster): Prepared {
  return {
    lab: made,
    desired,
    run: (options) => applyCluster({ desired, secrets: testSecrets(), policy: defaultPolicy, ...options }),
  };
}

/** Terraform deletes members first, each by itself and with its machine, and then updates the cluster. */
function leftAndApplied(
  made: Lab,
  before: DesiredCluster,
  desired: DesiredCluster,
  leaving: readonly string[],
): Prepared {
  const left = new Set<string>();
  const secrets = testSecrets();
  const run = async (options: Run) => {
    for (const name of leaving.filter((one) => !left.has(one))) {
      const others = before.machines.filter(
        (one) => one.name !== name && !left.has(one.name) && one.role === "controlplane",
      );
      const machines = others.map((one) => ({ ...one, ...withoutConfig }));
      const gone = before.machines.filter((one) => one.name === name);
      const around = { ...before, nodesBecomeReady: false, machines, leaving: gone };
      await leaveCluster({ desired: around, secrets, policy: defaultPolicy, ...options });
      made.world.forget(name);
      left.add(name);
    }
    for (const { name, role } of desired.machines) if (!made.world.machines.has(name)) made.world.add(name, role);
    await applyCluster({ desired, secrets, policy: defaultPolicy, ...options });
  };
  return { lab: made, desired, run };
}

/** The real file is read at once: in this world's time nothing may sleep meanwhile. */
function withSnapshotInMemory(machines: Machines): Machines {
  const restore: Machines["restore"] = (target, _file, signal) =>
    machines.restore(
      target,
      (async function* () {
        yield* snapshotChunks("etcd of old");
      })(),
      signal,
    );
  return new Proxy(machines, { get: (object, name) => (name === "restore" ? restore : Reflect.get(object, name)) });
}

function restored(made: Lab, snapshot: string, discardData: boolean): Prepared {
  const desired = wish();
  const secrets = testSecrets();
  const run = ({ machines, ...options }: Run) =>
    restoreCluster({
      desired,
      secrets,
      policy: defaultPolicy,
      snapshot,
      discardData,
      machines: withSnapshotInMemory(machines),
      ...options,
    });
  return { lab: made, desired, run };
}

/** As `rotate-ca` does it: the bundle is kept before each pass, and the next run reads it. */
async function rotated(): Promise<Prepared> {
  const spec = {
    name: "test",
    endpoint: "https://cp-1:6443",
    talosVersion: TalosVersion.parse("v1.13.9"),
    contract: Contract.parse("v1.13"),
    kubernetesVersion: "1.36.3",
    machines: [
      { name: "cp-1", role: "controlplane", address: "cp-1", fingerprint: "print-cp-1" } as const,
      { name: "w-1", role: "worker", address: "w-1", fingerprint: "print-w-1" } as const,
    ],
  };
  const before = desiredCluster(spec, testSecrets());
  const made = await started(before);
  const [rotating, after] = rotatedBundles();
  let kept = rotating;
  const run = async (options: Run) => {
    if (kept.rotation === undefined) return;
    const save = async (bundle: SecretsBundle) => {
      kept = bundle;
    };
    await rotateCas({
      passes: rotationPasses(spec, kept),
      save,
      passed: async () => {},
      policy: defaultPolicy,
      ...options,
    });
  };
  return { lab: made, desired: desiredCluster(spec, after), run };
}

let bundles: readonly [rotating: SecretsBundle, after: SecretsBundle] | undefined;

/** Made once: keys take long. */
function rotatedBundles(): readonly [SecretsBundle, SecretsBundle] {
  if (bundles !== undefined) return bundles;
  const rotating = beginRotation(testSecrets(), { cas: ["os", "k8s"], clock: systemClock, entropy: systemEntropy });
  let last = rotating;
  for (let next = nextBundle(last); next !== undefined; next = nextBundle(last)) last = next;
  bundles = [rotating, last];
  return bundles;
}

/** A file for `operations`, for as long as the tests of one file run. */
export function snapshotFile(): string {
  const directory = mkdtempSync(join(tmpdir(), "talosmith-operations-"));
  const file = join(directory, "etcd.db");
  writeFileSync(file, Buffer.concat(snapshotChunks("etcd of old")));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return file;
}

/** A journal in memory that outlives the run, as the file does. */
export function journal(onEntry: (count: number) => void = () => {}): Journal & { readonly list: JournalEntry[] } {
  const list: JournalEntry[] = [];
  return {
    list,
    entries: async () => list,
    async append(entry) {
      list.push(entry);
      onEntry(list.length);
    },
  };
}

/** What must be the same at the end, however often the run was interrupted. */
export function outcome({ world }: Lab) {
  return {
    machines: [...world.machines.values()].map(({ name, version, config, member }) => ({
      name,
      version,
      config,
      member: member !== undefined,
    })),
    nodes: world.nodes(),
    ghosts: world.ghosts,
    violations: world.violations,
    // It lies in etcd.
    lease: world.hasQuorum() ? world.lease : undefined,
  };
}

/** Every operation that changes a cluster. `snapshot` names a file with a snapshot of etcd. */
export function operations(snapshot: string): readonly Operation[] {
  const alone = (name: string, prepare: Operation["prepare"]): Operation => ({ name, path: "alone", prepare });
  const terraform = (name: string, prepare: Operation["prepare"]): Operation => ({ name, path: "terraform", prepare });
  return [
    alone("first deploy", async () => applied(lab(wish()), wish())),
    alone("config change without a reboot", async () => applied(await started(wish()), wish({ sysctl: "2" }))),
    alone("config change with a reboot", async () => applied(await started(wish()), wish({ file: "b" }))),
    alone("Talos upgrade", async () => {
      const before = wish({ talos: "v1.12.11", kubernetes: "1.35.4", installerInConfig: true });
      return applied(
        await started(before, before, "v1.12.11"),
        wish({ kubernetes: "1.35.4", installerInConfig: true }),
      );
    }),
    alone("Talos upgrade with a config change that reboots", async () => {
      const before = wish({ talos: "v1.12.11", kubernetes: "1.35.4" });
      return applied(await started(before, before, "v1.12.11"), wish({ kubernetes: "1.35.4", file: "b" }));
    }),
    alone("Kubernetes upgrade", async () => applied(await started(wish({ kubernetes: "1.35.4" })), wish())),
    alone("Kubernetes rollback", async () => applied(await started(wish()), wish({ kubernetes: "1.36.1" }))),
    alone("scale up", async () => {
      const desired = wish({ workers: ["w-1", "w-2", "w-3"] });
      return applied(await started(wish({ controlPlanes: ["cp-1"], workers: ["w-1"] }), desired), desired);
    }),
    alone("scale down", async () =>
      applied(
        await started(wish()),
        wish({ controlPlanes: ["cp-3"], workers: ["w-1"], leaving: ["cp-1", "cp-2", "w-2"] }),
      ),
    ),
    terraform("scale down", async () =>
      leftAndApplied(await started(wish()), wish(), wish({ controlPlanes: ["cp-3"], workers: ["w-1"] }), [
        "cp-1",
        "cp-2",
        "w-2",
      ]),
    ),
    alone("replace of a dead control plane", async () => {
      const made = await started(wish());
      made.world.replace("cp-2");
      return applied(made, wish());
    }),
    terraform("replace of a control plane", async () =>
      leftAndApplied(await started(wish()), wish(), wish(), ["cp-2"]),
    ),
    alone("rotate-ca", rotated),
    alone("restore onto empty machines", async () => {
      const made = await started(wish());
      for (const name of ["cp-1", "cp-2", "cp-3"]) made.world.replace(name);
      return restored(made, snapshot, false);
    }),
    alone("restore over old data", async () => restored(await started(wish()), snapshot, true)),
    alone("destroy", async () => {
      const made = await started(wish());
      made.world.destroying = true;
      return {
        lab: made,
        desired: undefined,
        run: (options) =>
          destroyCluster({ desired: wish(), secrets: testSecrets(), policy: defaultPolicy, ...options }),
      };
    }),
  ];
}
