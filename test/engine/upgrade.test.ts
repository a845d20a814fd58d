// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { type ApplyOptions, applyCluster, checkHealth, type Machines } from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { TalosError } from "../../talos/errors.ts";
import { type Lab, lab, testSecrets, type Wish, wish } from "./fixture.ts";
import { killingPort } from "./killing-port.ts";

const old = { talos: "v1.12.11", kubernetes: "1.35.4" };
const fresh = { talos: "v1.13.9", kubernetes: "1.35.4" };
const image = "ghcr.io/siderolabs/installer:v1.13.9";

async function running(options: Wish): Promise<Lab> {
  const made = lab(wish(options));
  for (const machine of made.world.machines.values()) machine.version = options.talos ?? "v1.13.9";
  await made.apply(wish(options));
  made.world.log.length = 0;
  return made;
}

const deeds = ({ world }: Lab, machine: string) => [
  ...new Set(world.log.filter((line) => line.split(" ").includes(machine))),
];

describe("a change that needs reboots while there are two members", () => {
  test.each([
    ["goes on when an empty machine takes the place of the third first", ["cp-1", "cp-2", "cp-3"], "cp-3"],
    ["goes on when a third one is wished for together with it", ["cp-1", "cp-2"], undefined],
  ])("%s", async (_, before, emptied) => {
    const desired = wish({ file: "b" });
    const { world, apply } = lab(desired);
    await apply(wish({ controlPlanes: before }));
    if (emptied !== undefined) world.replace(emptied);
    const { steps } = await apply(desired);
    const ids = steps.map(({ id }) => id);
    expect(ids.indexOf("join-etcd/cp-3")).toBeLessThan(ids.indexOf("drain/cp-1"));
    expect(world.violations).toEqual([]);
  });

  test("is refused when it stays at two", async () => {
    const before = wish({ controlPlanes: ["cp-1", "cp-2"] });
    const { apply } = lab(before);
    await apply(before);
    await expect(apply(wish({ controlPlanes: ["cp-1", "cp-2"], file: "b" }))).rejects.toThrow(
      "cp-1 must reboot, but with 2 etcd members none can be spared",
    );
  });
});

describe("an upgrade of Talos", () => {
  test("fetches the image before it drains, and leaves a cluster alone whose image is missing", async () => {
    const made = await running(old);
    await made.apply(wish(fresh));
    expect(deeds(made, "w-1")).toEqual([
      "pull w-1 installer:v1.13.9",
      "drain w-1",
      "upgrade w-1 v1.13.9",
      "uncordon w-1",
    ]);
    const other = await running(old);
    other.world.missingImages.add(image);
    await expect(other.apply(wish(fresh))).rejects.toMatchObject({ code: "not-found" });
    expect(other.world.log).toEqual([]);
  });

  test("that boots nothing new puts the machine back into service and says so", async () => {
    const made = await running(old);
    made.world.brokenImages.add(image);
    await expect(made.apply(wish(fresh))).rejects.toMatchObject({
      message: expect.stringMatching(/came back with Talos v1\.12\.11 instead of v1\.13\.9/),
    });
    expect(made.world.nodes().filter(({ unschedulable }) => unschedulable)).toEqual([]);
  });

  test("with which a machine never becomes healthy is taken back, and the others are not touched", async () => {
    const made = await running(old);
    made.world.sickVersions.add("v1.13.9");
    await expect(made.apply(wish(fresh))).rejects.toMatchObject({
      code: "failed-precondition",
      message: expect.stringMatching(/cp-1 did not become healthy.*was taken back to the system before/),
    });
    expect(made.world.log.filter((line) => /^(upgrade|rollback)/.test(line))).toEqual([
      "upgrade cp-1 v1.13.9",
      "rollback cp-1",
    ]);
    expect([...made.world.machines.values()].every(({ version }) => version === "v1.12.11")).toBe(true);
    expect(made.world.nodes().every(({ ready, unschedulable }) => ready && !unschedulable)).toBe(true);
    expect(made.world.violations).toEqual([]);
  });

  test("is taken back once, also where the answer to the order is lost", async () => {
    const made = await running(old);
    made.world.sickVersions.add("v1.13.9");
    const port = made.world.port();
    const machines: Machines = {
      ...port,
      rollback: async (target, signal) => {
        await port.rollback(target, signal);
        throw new TalosError("unavailable", `${target.name}: the connection was cut`);
      },
    };
    await expect(made.apply(wish(fresh), { machines })).rejects.toThrow("was taken back to the system before");
    expect(made.world.log.filter((line) => line.startsWith("rollback"))).toEqual(["rollback cp-1"]);
  });

  test("is not taken back where the policy says so", async () => {
    const made = await running(old);
    made.world.sickVersions.add("v1.13.9");
    const attempt = made.apply(wish(fresh), { policy: { ...defaultPolicy, revertFailedUpgrades: false } });
    await expect(attempt).rejects.toMatchObject({ code: "deadline-exceeded" });
    expect(made.world.machines.get("cp-1")?.version).toBe("v1.13.9");
  });

  test("is due when only the schematic changes, and is checked by it", async () => {
    const made = await running({ schematic: "a" });
    const steps = (await made.apply(wish({ schematic: "b" }))).steps.filter(({ kind }) => kind === "upgrade-talos");
    expect(steps.map(({ machine }) => machine)).toEqual(["cp-1", "cp-2", "cp-3", "w-1", "w-2"]);
    expect(steps[0]?.sentence).toBe("install factory.talos.dev/metal-installer/bbbb…:v1.13.9 on cp-1");
    made.world.brokenImages.add(`factory.talos.dev/metal-installer/${"c".repeat(64)}:v1.13.9`);
    await expect(made.apply(wish({ schematic: "c" }))).rejects.toMatchObject({
      message: expect.stringContaining(`cp-1 came back with the schematic ${"b".repeat(64)}`),
    });
  });
});

describe("the policy of a rollout", () => {
  const workers = Array.from({ length: 8 }, (_, index) => `w-${index + 1}`);

  test.each([
    [2, 2],
    ["25%", 2],
    ["10%", 1],
  ] as const)("maxUnavailable %s lets %i of eight workers be away at once", async (maxUnavailable, most) => {
    const made = await running({ workers });
    made.world.maxUnavailable = most;
    let largest = 0;
    const look = () => {
      const away = made.world.nodes().filter((node) => !node.controlPlane && (!node.ready || node.unschedulable));
      largest = Math.max(largest, away.length);
    };
    await made.apply(wish({ workers, file: "b" }), { policy: { ...defaultPolicy, maxUnavailable }, events: look });
    expect(largest).toBe(most);
    expect(made.world.violations).toEqual([]);
  });

  test("counts workers that are away for other reasons", async () => {
    const made = await running({ workers });
    made.world.lose("w-8");
    const without = wish({ workers, file: "b" });
    const attempt = made.apply(without, { timeouts: { reachable: 1000 } });
    await expect(attempt).rejects.toMatchObject({ message: expect.stringContaining("w-8") });
  });

  test.each<[NonNullable<ApplyOptions["policy"]>["stuckPods"], readonly string[]]>([
    ["delete", ["drain w-1", "config w-1 reboot", "uncordon w-1"]],
    ["leave", ["drain w-1", "config w-1 reboot", "uncordon w-1"]],
  ])("stuckPods %s goes on when pods do not leave in time", async (stuckPods = "fail", expected) => {
    const made = await running({});
    made.world.stubborn.add("w-1");
    const warnings: string[] = [];
    await made.apply(wish({ file: "b" }), {
      policy: { ...defaultPolicy, stuckPods },
      events: ({ type, message }) => type === "warning" && warnings.push(message),
    });
    expect(deeds(made, "w-1")).toEqual(expected);
    expect(warnings).toEqual([expect.stringMatching(/a disruption budget keeps pod default\/w-1; its pods/)]);
    expect(made.world.machines.get("w-1")?.pods).toBe(stuckPods === "delete" ? 0 : 2);
  });

  test("stuckPods fail, the default, leaves the machine running and in service", async () => {
    const made = await running({});
    made.world.stubborn.add("w-1");
    await expect(made.apply(wish({ file: "b" }))).rejects.toMatchObject({ code: "deadline-exceeded" });
    expect(deeds(made, "w-1")).toEqual(["drain w-1", "uncordon w-1"]);
  });
});

describe("a node that a person has cordoned", () => {
  test("is named once and not waited for, and keeps its cordon through a reboot", async () => {
    const made = await running({});
    const port = made.world.port();
    await port.kubernetes.setSchedulable("w-2", false);
    const warnings: string[] = [];
    const begun = made.timing.elapsed();
    for (const desired of [wish(), wish({ sysctl: "2" }), wish({ sysctl: "2", file: "b" })])
      await made.apply(desired, { events: ({ type, message }) => type === "warning" && warnings.push(message) });
    expect(warnings).toEqual(Array(3).fill("w-2: is cordoned, not by talosmith; it stays so until you uncordon it"));
    expect(made.timing.elapsed() - begun).toBeLessThan(120_000);
    expect(made.world.node("w-2")).toMatchObject({ unschedulable: true, cordonedByUs: false });
  });

  test("is not waited for because of a cordon on a node of another stack", async () => {
    const made = await running({});
    await made.world.port().kubernetes.setSchedulable("w-1", false);
    Object.assign(made.world.machine("w-2").node ?? {}, { unschedulable: true, ours: true });
    const begun = made.timing.elapsed();
    await made.apply(wish({ workers: ["w-1"] }));
    expect(made.timing.elapsed() - begun).toBeLessThan(60_000);
  });

  test("is unhealthy all the same", async () => {
    const made = await running({});
    await made.world.port().kubernetes.setSchedulable("w-2", false);
    const access = { desired: wish(), secrets: testSecrets(), machines: made.world.port(), timing: made.timing };
    const options = { ...access, policy: defaultPolicy };
    const begun = made.timing.elapsed();
    const { healthy, checks } = await checkHealth(options);
    expect(healthy).toBe(false);
    expect(checks.at(-1)).toMatchObject({ state: "failed", reason: "w-2: is cordoned" });
    expect(made.timing.elapsed() - begun).toBeLessThan(10_000);
  });
});

describe("an upgrade of Kubernetes", () => {
  test("that was killed before its last step is taken up there", async () => {
    const made = await running({ kubernetes: "1.35.4" });
    const desired = wish({ kubernetes: "1.36.3" });
    const whole = killingPort(made.world.port());
    const before = { ...made.world };
    expect(before.proxyVersion).toBe("1.35.4");
    const options = { desired, secrets: testSecrets(), policy: defaultPolicy, timing: made.timing };
    const deed = await countDeeds(desired);
    const killed = killingPort(made.world.port(), { deed: deed - 1, when: "before" });
    await expect(applyCluster({ ...options, machines: killed.port })).rejects.toThrow("killed");
    expect(killed.begun.at(-1)).toBe("syncManifests the cluster");
    const { steps } = await applyCluster({ ...options, machines: whole.port });
    expect(steps.map(({ id }) => id)).toEqual(["sync-manifests/cp-1"]);
    expect(made.world.proxyVersion).toBe("1.36.3");
  });

  const components = ({ world }: Lab, component: string) =>
    ["cp-1", "cp-2", "cp-3"].map((name) => {
      const config = world.machines.get(name)?.config ?? "";
      return new RegExp(`${component}:v([0-9.]+)`).exec(config)?.[1];
    });

  describe.each(["kube-apiserver", "kube-controller-manager", "kube-scheduler"])(
    "with a %s that never becomes ready",
    (sick) => {
      test("stays on one machine, however often it is run again", async () => {
        const made = await running({ kubernetes: "1.36.1" });
        made.world.sickComponents.add(`${sick} 1.36.3`);
        for (let run = 0; run < 3; run++) {
          await expect(made.apply(wish({ kubernetes: "1.36.3" }))).rejects.toThrow(
            `waiting for ${sick} 1.36.3 to become ready`,
          );
          expect(components(made, sick)).toEqual(["1.36.3", "1.36.1", "1.36.1"]);
        }
      });

      test("is taken back by the version before, and the plan says so", async () => {
        const made = await running({ kubernetes: "1.36.1" });
        made.world.sickComponents.add(`${sick} 1.36.3`);
        await expect(made.apply(wish({ kubernetes: "1.36.3" }))).rejects.toThrow("to become ready");
        const { steps } = await made.apply(wish({ kubernetes: "1.36.1" }));
        expect(steps.map(({ sentence }) => sentence)).toContain(`roll back ${sick} on cp-1 from 1.36.3 to 1.36.1`);
        for (const component of ["kube-apiserver", sick])
          expect(components(made, component)).toEqual(["1.36.1", "1.36.1", "1.36.1"]);
      });
    },
  );

  test("is not taken back over a minor version", async () => {
    const made = await running({ kubernetes: "1.36.3" });
    await expect(made.apply(wish({ kubernetes: "1.35.4" }))).rejects.toThrow(
      "cp-1 runs Kubernetes 1.36.3, and a minor version cannot be downgraded: not to 1.35.4",
    );
  });

  test("changes nothing when an image is missing", async () => {
    const made = await running({ kubernetes: "1.35.4" });
    made.world.missingImages.add("registry.k8s.io/kube-scheduler:v1.36.3");
    await expect(made.apply(wish({ kubernetes: "1.36.3" }))).rejects.toMatchObject({ code: "not-found" });
    expect(made.world.log.every((line) => line.startsWith("pull "))).toBe(true);
  });

  test.each([
    [{ name: "flowschemas.v1beta3.flowcontrol.apiserver.k8s.io", removedIn: "1.36" }, undefined],
    [{ name: "things.v1alpha1.example", removedIn: "1.36", objects: 2 }, /there are 2 objects of things/],
  ])("finds beforehand what will be gone: %j", async (gone, refused) => {
    const made = await running({ kubernetes: "1.35.4" });
    const port = made.world.port();
    const kubernetes = { ...port.kubernetes, apisGoneWith: async () => [gone] };
    const warnings: string[] = [];
    const run = made.apply(wish({ kubernetes: "1.36.3" }), {
      machines: { ...port, kubernetes },
      events: ({ type, message }) => type === "warning" && warnings.push(message),
    });
    if (refused === undefined) {
      await run;
      expect(warnings).toEqual([expect.stringContaining("clients of this cluster have used flowschemas")]);
    } else {
      await expect(run).rejects.toThrow(refused);
      expect(made.world.log).toEqual([]);
    }
  });
});

/** How many deeds the whole upgrade takes. */
async function countDeeds(desired: ReturnType<typeof wish>): Promise<number> {
  const made = await running({ kubernetes: "1.35.4" });
  const counting = killingPort(made.world.port());
  await applyCluster({
    desired,
    secrets: testSecrets(),
    policy: defaultPolicy,
    timing: made.timing,
    machines: counting.port,
  });
  return counting.begun.length;
}
