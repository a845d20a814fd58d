// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { applyCluster, type DesiredCluster, destroyCluster } from "../../../talos/cluster/index.ts";
import { type Lab, lab, testSecrets, wish } from "./fixture.ts";
import { type KillingPort, killingPort } from "./killing-port.ts";

interface Scenario {
  readonly name: string;
  /** The world before, and what is wanted of it. */
  prepare(): Promise<{ lab: Lab; desired: DesiredCluster }>;
  readonly procedure?: "destroy";
}

async function started(before: DesiredCluster, machines = before, version?: string): Promise<Lab> {
  const made = lab(machines);
  for (const machine of made.world.machines.values()) machine.version = version ?? machine.version;
  await made.apply(before);
  return made;
}

const scenarios: readonly Scenario[] = [
  { name: "bring-up", prepare: async () => ({ lab: lab(wish()), desired: wish() }) },
  {
    name: "a config without reboots",
    prepare: async () => ({ lab: await started(wish()), desired: wish({ sysctl: "2" }) }),
  },
  {
    name: "a config with reboots",
    prepare: async () => ({ lab: await started(wish()), desired: wish({ file: "b" }) }),
  },
  {
    name: "a new Talos with another config",
    prepare: async () => {
      const before = wish({ talos: "v1.12.11", kubernetes: "1.35.4" });
      return { lab: await started(before, before, "v1.12.11"), desired: wish({ kubernetes: "1.35.4", file: "b" }) };
    },
  },
  {
    name: "a new Talos, whose installer stands in the config",
    prepare: async () => {
      const before = wish({ talos: "v1.12.11", kubernetes: "1.35.4", installerInConfig: true });
      const desired = wish({ kubernetes: "1.35.4", installerInConfig: true });
      return { lab: await started(before, before, "v1.12.11"), desired };
    },
  },
  {
    name: "a new Kubernetes",
    prepare: async () => ({ lab: await started(wish({ kubernetes: "1.35.4" })), desired: wish() }),
  },
  {
    name: "scaling up",
    prepare: async () => {
      const desired = wish({ workers: ["w-1", "w-2", "w-3"] });
      return { lab: await started(wish({ controlPlanes: ["cp-1"], workers: ["w-1"] }), desired), desired };
    },
  },
  {
    name: "scaling down",
    prepare: async () => ({
      lab: await started(wish()),
      desired: wish({ controlPlanes: ["cp-3"], workers: ["w-1"], leaving: ["cp-1", "cp-2", "w-2"] }),
    }),
  },
  {
    name: "replacing a dead control plane",
    prepare: async () => {
      const made = await started(wish());
      made.world.replace("cp-2");
      return { lab: made, desired: wish() };
    },
  },
  {
    name: "destroying",
    procedure: "destroy",
    prepare: async () => {
      const made = await started(wish());
      made.world.destroying = true;
      return { lab: made, desired: wish() };
    },
  },
];

function run(scenario: Scenario, made: Lab, desired: DesiredCluster, { port }: KillingPort) {
  const options = { desired, secrets: testSecrets(), machines: port, timing: made.timing };
  return scenario.procedure === "destroy" ? destroyCluster(options) : applyCluster(options);
}

/** What must be the same at the end, however often the run was interrupted. */
function outcome({ world }: Lab) {
  return {
    machines: [...world.machines.values()].map(({ name, version, config, member }) => ({
      name,
      version,
      config,
      member: member !== undefined,
    })),
    nodes: world.nodes(),
    ghosts: world.ghosts,
    bootstraps: world.bootstraps,
    violations: world.violations,
  };
}

describe.each(scenarios)("killed during $name", (scenario) => {
  test("and run again, it ends as if nothing had happened, wherever the kill came", async () => {
    const undisturbed = await scenario.prepare();
    const whole = killingPort(undisturbed.lab.world.port());
    await run(scenario, undisturbed.lab, undisturbed.desired, whole);
    const expected = outcome(undisturbed.lab);
    expect(expected.violations).toEqual([]);
    expect(whole.begun.length).toBeGreaterThanOrEqual(3);

    for (let deed = 0; deed < whole.begun.length; deed++) {
      for (const when of ["before", "after"] as const) {
        const { lab: made, desired } = await scenario.prepare();
        const first = killingPort(made.world.port(), { deed, when });
        await expect(run(scenario, made, desired, first)).rejects.toThrow("killed");
        expect(first.killed()).toBe(true);
        const second = killingPort(made.world.port());
        await run(scenario, made, desired, second);
        expect(outcome(made), `killed ${when} ${first.begun.at(-1)}`).toEqual(expected);
      }
    }
  });
});
