// SPDX-License-Identifier: Apache-2.0
// Machines that read their config from user-data or a seed, and read it again whenever they lost it.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ClusterEvent,
  type ClusterSpec,
  type DesiredCluster,
  desiredCluster,
  journalFile,
  previewCluster,
  restoreCluster,
  rotateCas,
  rotationPasses,
} from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { systemClock, systemEntropy } from "../../talos/clock.ts";
import { beginRotation, type SecretsBundle } from "../../talos/secrets/index.ts";
import { Contract, TalosVersion } from "../../talos/version/index.ts";
import { everything } from "../support/everything.ts";
import { saveSnapshot } from "../support/save-snapshot.ts";
import { testSecrets } from "./fixture.ts";
import { type SimulatedLab, simulatedLab } from "./simulated-cluster.ts";

const timeouts = { step: 60_000, reachable: 60_000, health: 60_000, resetSilence: 4_000 };

describe("machines with user-data", () => {
  let lab: SimulatedLab;
  let secrets: SecretsBundle = testSecrets();
  beforeAll(async () => {
    lab = await simulatedLab("seeded");
    for (const name of ["cp-1", "w-1"]) await lab.create(name);
  });
  afterAll(() => lab.end());

  /** Without fingerprints, and nothing is trusted: nobody could give these machines their initial config over the API. */
  async function spec(names: readonly string[], leaving: readonly string[] = []): Promise<ClusterSpec> {
    const unpinned = async (list: readonly string[]) =>
      (await lab.machines(list)).map(({ fingerprint: _, ...machine }) => machine);
    const machines = await unpinned(names);
    return {
      name: "seeded",
      endpoint: `https://${machines[0]?.address}:6443`,
      talosVersion: TalosVersion.parse("v1.13.9"),
      contract: Contract.parse("v1.13"),
      kubernetesVersion: "1.36.3",
      machines,
      leaving: await unpinned(leaving),
    };
  }

  const idOf = async (name: string) => (await lab.simulator.listMachines()).find((one) => one.name === name)?.id ?? "";
  const stageOf = async (name: string) =>
    (await lab.simulator.listMachines()).find((machine) => machine.name === name)?.stage;
  const configOf = (desired: DesiredCluster, name: string) =>
    desired.machines.find((machine) => machine.name === name)?.config.text;

  /** Boots a machine with user-data, as if it were new. */
  async function boot(name: string, userData: string | undefined): Promise<void> {
    const id = await idOf(name);
    await lab.simulator.setPower(id, false);
    await lab.simulator.setUserData(id, userData);
    await lab.simulator.setPower(id, true);
  }

  const apply = (desired: DesiredCluster, events?: (event: ClusterEvent) => void) =>
    lab.apply(desired, { secrets, timeouts, ...(events === undefined ? {} : { events }) });

  test("form a cluster though nobody is trusted", async () => {
    const desired = desiredCluster(await spec(["cp-1", "w-1"]), secrets);
    await expect(apply(desired)).rejects.toThrow("its fingerprint is not known");
    for (const name of ["cp-1", "w-1"]) await boot(name, configOf(desired, name));
    const { steps } = await apply(desired);
    expect(steps.some((step) => step.kind === "apply-config" && step.effect === "install")).toBe(false);
    expect((await apply(desired)).steps).toEqual([]);
  });

  test("do not come back into the cluster that they have left", async () => {
    const told: string[] = [];
    const desired = desiredCluster(await spec(["cp-1"], ["w-1"]), secrets);
    await apply(desired, ({ message }) => told.push(message));
    expect(told.join("\n")).toContain("w-1 has read its config from user-data again");
    expect(await stageOf("w-1")).toBe("off");
    await lab.simulator.deleteMachine(await idOf("w-1"));
    expect((await apply(desiredCluster(await spec(["cp-1"]), secrets))).steps).toEqual([]);
  });

  test("that are marked stay off when they leave, and are reported when they are switched on later", async () => {
    await lab.create("w-2");
    const both = desiredCluster(await spec(["cp-1", "w-2"]), secrets);
    await boot("w-2", configOf(both, "w-2"));
    await apply(both);
    const journal = journalFile(join(lab.lockFile, "..", "journal.jsonl"));
    const run = async (leaving: readonly string[] = []) => {
      const told: string[] = [];
      const marked = { ...(await spec(["cp-1"], leaving)), configSource: "user-data" } as const;
      const desired = desiredCluster(marked, secrets);
      const events = ({ type, message }: ClusterEvent) => told.push(`${type}: ${message}`);
      const { steps } = await lab.apply(desired, { secrets, timeouts, journal, events });
      const { findings } = await previewCluster({ desired, secrets, journal, policy: defaultPolicy });
      return { told, sentences: steps.map(({ sentence }) => sentence), findings };
    };
    const left = await run(["w-2"]);
    expect(left.sentences).toContain("remove w-2 from the cluster, wipe its disk and leave it powered off");
    expect(left.told.join("\n")).not.toContain("user-data again");
    expect(await stageOf("w-2")).toBe("off");
    expect((await run()).findings).toEqual([]);
    // Somebody switches it on: its user-data still has the config, and its token is still good.
    await lab.simulator.setPower(await idOf("w-2"), true);
    const nodes = async () => {
      const { kubernetes } = await lab.observe(both);
      return kubernetes.kind === "reachable" ? kubernetes.nodes.map(({ name }) => name) : [];
    };
    await expect.poll(nodes, { timeout: 20_000 }).toContain("w-2");
    const back = await run();
    const warning = "w-2 is a node of the cluster again, though it was removed: it has read its old config";
    expect(back.told.join("\n")).toContain(`warning: ${warning}`);
    expect(back.findings).toMatchObject([{ severity: "warning", message: expect.stringContaining(warning) }]);
    expect(back.sentences).toEqual([]);
    await apply(desiredCluster({ ...(await spec(["cp-1"], ["w-2"])), configSource: "user-data" }, secrets));
    await lab.simulator.deleteMachine(await idOf("w-2"));
  });

  test("come back from a snapshot when their control planes were lost", async () => {
    const before = desiredCluster(await spec(["cp-1"]), secrets);
    const snapshot = join(lab.lockFile, "..", "etcd.db");
    await saveSnapshot(before, secrets, snapshot);
    await lab.create("w-9");
    await lab.simulator.deleteMachine(await idOf("cp-1"));
    await lab.create("cp-1");
    const desired = desiredCluster(await spec(["cp-1"]), secrets);
    await boot("cp-1", configOf(desired, "cp-1"));
    const { steps } = await restoreCluster({
      desired,
      secrets,
      policy: defaultPolicy,
      snapshot,
      timeouts,
      lockFile: lab.lockFile,
    });
    expect(steps.map(({ id }) => id)).toContain("restore-etcd/cp-1");
    expect((await apply(desired)).steps).toEqual([]);
    await rm(snapshot);
  });

  test.runIf(everything)(
    "with new ones join after an exchange of CAs, with old ones they are not taken for machines of the cluster",
    async () => {
      const cas = ["os", "k8s"] as const;
      const begun = beginRotation(secrets, { cas, clock: systemClock, entropy: systemEntropy });
      await lab.create("cp-2");
      const old = configOf(desiredCluster(await spec(["cp-1", "cp-2"]), secrets), "cp-2");
      const passes = rotationPasses(await spec(["cp-1"]), begun);
      const done = async () => {};
      secrets = await rotateCas({
        passes,
        policy: defaultPolicy,
        save: done,
        passed: done,
        timeouts,
        lockFile: lab.lockFile,
      });
      const desired = desiredCluster(await spec(["cp-1", "cp-2"]), secrets);
      await boot("cp-2", configOf(desired, "cp-2"));
      await apply(desired);
      expect((await apply(desired)).steps).toEqual([]);
      // Its seed was never renewed: after its reset it boots with the old CAs, and that is never taken for a clean leave.
      await lab.simulator.setUserData(await idOf("cp-2"), old);
      const leaving = desiredCluster(await spec(["cp-1"], ["cp-2"]), secrets);
      await expect(apply(leaving)).rejects.toMatchObject({
        message: expect.stringContaining("cp-2 was wiped, but runs again with a config of other CAs"),
        hint: expect.stringContaining("renew its user-data"),
      });
      await expect(apply(desired)).rejects.toMatchObject({ hint: expect.stringContaining("the last rotate-ca") });
    },
  );
});
