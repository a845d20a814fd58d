// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type DesiredCluster,
  defaultPolicy,
  type MachineEtcd,
  type MachineState,
  type ObservedCluster,
  type ObservedMachine,
  plan,
  planDestroy,
  type Step,
} from "../../engine/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";
import { wish } from "./fixture.ts";

const controlPlanes = ["cp-1", "cp-2", "cp-3", "cp-4", "cp-5"];
const workers = ["w-1", "w-2", "w-3", "w-4"];
const talosVersions = ["v1.11.6", "v1.12.11", "v1.13.9"];
const kubernetesVersions = ["1.34.1", "1.35.4"];

interface Case {
  readonly desired: DesiredCluster;
  readonly observed: ObservedCluster;
}

const subset = (names: readonly string[], least: number) =>
  fc.subarray([...names], { minLength: least, maxLength: names.length });

/** Any cluster in any condition: members without machines, machines without members, cordons, half-done upgrades. */
const cases: fc.Arbitrary<Case> = fc
  .record({
    controlPlanes: subset(controlPlanes, 1),
    workers: subset(workers, 0),
    leaving: subset([...controlPlanes, ...workers], 0),
    talos: fc.constantFrom(...talosVersions),
    kubernetes: fc.constantFrom(...kubernetesVersions),
    etcd: fc.constantFrom("none", "running", "down"),
    kubernetesUp: fc.boolean(),
    machines: fc.array(
      fc.record({
        kind: fc.constantFrom("configured", "configured", "configured", "maintenance", "unreachable", "foreign"),
        talos: fc.constantFrom(...talosVersions),
        kubernetes: fc.constantFrom(...kubernetesVersions),
        sysctl: fc.constantFrom("1", "2"),
        file: fc.constantFrom("a", "b"),
        member: fc.constantFrom("voter", "voter", "learner", "none"),
        healthy: fc.constantFrom(true, true, false),
        node: fc.constantFrom("ready", "ready", "unready", "none", "cordoned", "ours"),
        stage: fc.constantFrom("running", "running", "booting", "rebooting"),
      }),
      { minLength: 9, maxLength: 9 },
    ),
  })
  .map((drawn) => {
    const leaving = drawn.leaving.filter(
      (name) => !drawn.controlPlanes.includes(name) && !drawn.workers.includes(name),
    );
    const desired = wish({ ...drawn, leaving });
    const names = [...controlPlanes, ...workers];
    const draft = (name: string) => drawn.machines[names.indexOf(name)];
    const members = controlPlanes.flatMap((name, index) => {
      const { member = "none" } = draft(name) ?? {};
      return member === "none"
        ? []
        : [{ id: `a${index}`, hostname: name, peerUrls: [], learner: member === "learner" }];
    });
    const etcdOf = (name: string): MachineEtcd => {
      const own = members.find(({ hostname }) => hostname === name);
      if (own === undefined || drawn.etcd === "none") return { state: "waiting", healthy: false, members: [] };
      if (drawn.etcd === "down") return { state: "down", healthy: false, members: [] };
      return {
        state: "running",
        healthy: draft(name)?.healthy ?? false,
        memberId: own.id,
        leaderId: members[0]?.id ?? "0",
        members,
      };
    };
    const stateOf = (name: string, role: "controlplane" | "worker"): MachineState => {
      const one = draft(name);
      if (one === undefined || one.kind === "unreachable") return { kind: "unreachable", reason: "refused" };
      if (one.kind === "foreign") return { kind: "foreign", reason: "not ours" };
      if (one.kind === "maintenance") return { kind: "maintenance", fingerprint: `print-${name}` };
      const config = wish({ ...one, controlPlanes: ["cp-0", name], workers: [name] }).machines.find(
        (machine) => machine.name === name && machine.role === role,
      )?.config;
      return {
        kind: "configured",
        stage: one.stage as "running",
        ready: true,
        unmet: [],
        talosVersion: one.talos,
        bootId: "1",
        ...(config === undefined ? {} : { config }),
        ...(role === "controlplane" ? { etcd: etcdOf(name) } : {}),
      };
    };
    const machines = [...desired.machines, ...desired.leaving].map(
      ({ name, role, address }): [string, ObservedMachine] => [
        name,
        { name, role, address, state: stateOf(name, role) },
      ],
    );
    const nodes = names.flatMap((name) => {
      const { node = "none", kubernetes = "" } = draft(name) ?? {};
      if (node === "none") return [];
      return [
        {
          name,
          ready: node !== "unready",
          unschedulable: node === "cordoned" || node === "ours",
          cordonedByUs: node === "ours",
          controlPlane: controlPlanes.includes(name),
          addresses: [],
          kubeletVersion: `v${kubernetes}`,
        },
      ];
    });
    const observed: ObservedCluster = {
      machines: new Map(machines),
      kubernetes: drawn.kubernetesUp ? { kind: "reachable", nodes } : { kind: "unreachable", reason: "refused" },
    };
    return { desired, observed };
  });

const check = (property: (given: Case, steps: readonly Step[]) => void) =>
  fc.assert(
    fc.property(cases, (given) => {
      property(given, plan(given.desired, given.observed, { ...defaultPolicy, maxUnavailable: 2 }));
    }),
    { numRuns: 400 },
  );

/** Ids of everything that is finished before this step begins. */
function ancestors(steps: readonly Step[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { id, after } of steps) {
    found.set(id, new Set(after.flatMap((before) => [before, ...(found.get(before) ?? [])])));
  }
  return found;
}

const disruptive = (step: Step) =>
  step.kind === "upgrade-talos" || step.kind === "reset" || (step.kind === "apply-config" && step.effect === "reboot");

describe("the planner, given any cluster in any condition", () => {
  test("orders its steps: each waits only for steps before it, and no id comes twice", () => {
    check((_given, steps) => {
      const seen = new Set<string>();
      for (const { id, after } of steps) {
        expect(seen.has(id)).toBe(false);
        for (const before of after) expect(seen.has(before)).toBe(true);
        seen.add(id);
      }
    });
  });

  test("gives the same plan for the same cluster", () => {
    check((given, steps) => {
      expect(plan(given.desired, given.observed, { ...defaultPolicy, maxUnavailable: 2 })).toEqual(steps);
    });
  });

  test("starts etcd at most once, and only when every control plane was seen without data", () => {
    check(({ desired, observed }, steps) => {
      const starts = steps.filter(({ kind }) => kind === "bootstrap-etcd");
      expect(starts.length).toBeLessThanOrEqual(1);
      if (starts.length === 0) return;
      for (const { name, role } of [...desired.machines, ...desired.leaving]) {
        if (role === "worker") continue;
        const state = observed.machines.get(name)?.state;
        expect(["maintenance", "configured"]).toContain(state?.kind);
        if (state?.kind === "configured") expect(state.etcd?.state).toBe("waiting");
      }
    });
  });

  test("never goes back to an older version", () => {
    check((_given, steps) => {
      for (const step of steps) {
        if (step.kind === "upgrade-talos") {
          expect(TalosVersion.parse(step.from).compare(TalosVersion.parse(step.to))).toBeLessThan(0);
        }
        if (step.kind === "upgrade-kubernetes") expect(step.from < step.to).toBe(true);
      }
    });
  });

  test("leaves machines alone that it cannot see or that are not ours", () => {
    check(({ observed }, steps) => {
      for (const step of steps) {
        const kind = observed.machines.get(step.machine)?.state.kind;
        if (kind === "unreachable" || kind === "foreign")
          expect(["remove-etcd-member", "delete-node"]).toContain(step.kind);
      }
    });
  });

  test("wipes only what should leave, and gracefully", () => {
    check(({ desired }, steps) => {
      const leaving = new Set(desired.leaving.map(({ name }) => name));
      for (const step of steps) {
        if (step.kind !== "reset") continue;
        expect(leaving.has(step.machine)).toBe(true);
        expect(step.graceful).toBe(true);
      }
    });
  });

  test("takes control planes down one after another, never two at a time", () => {
    check((_given, steps) => {
      const before = ancestors(steps);
      const down = steps.filter((step) => disruptive(step) && step.machine.startsWith("cp"));
      for (const [index, one] of down.entries()) {
        for (const other of down.slice(index + 1)) {
          expect(before.get(one.id)?.has(other.id) || before.get(other.id)?.has(one.id)).toBe(true);
        }
      }
    });
  });

  test("takes no more workers down at once than allowed", () => {
    check((_given, steps) => {
      const before = ancestors(steps);
      const down = steps.filter((step) => disruptive(step) && step.machine.startsWith("w"));
      for (const one of down) {
        const beside = down.filter(
          (other) =>
            other.machine !== one.machine && !before.get(one.id)?.has(other.id) && !before.get(other.id)?.has(one.id),
        );
        // Two lanes: beside one worker there is at most one other at any moment, so those beside it follow each other.
        for (const [index, other] of beside.entries()) {
          for (const third of beside.slice(index + 1)) {
            expect(before.get(other.id)?.has(third.id) || before.get(third.id)?.has(other.id)).toBe(true);
          }
        }
      }
    });
  });

  test("keeps a majority of healthy members through every removal", () => {
    check(({ observed }, steps) => {
      const all = [...observed.machines.values()].flatMap(({ state }) =>
        state.kind === "configured" ? (state.etcd?.members ?? []) : [],
      );
      const voters = new Map(all.filter(({ learner }) => !learner).map(({ id, hostname }) => [id, hostname]));
      if (voters.size === 0) return;
      for (const step of steps) {
        const gone = step.kind === "remove-etcd-member" || (step.kind === "reset" && step.graceful);
        if (!gone) continue;
        for (const [id, hostname] of voters) if (hostname === step.machine) voters.delete(id);
        expect(voters.size).toBeGreaterThan(0);
      }
    });
  });

  test("drains a machine before it goes down, where Kubernetes knows it", () => {
    check(({ observed }, steps) => {
      const before = ancestors(steps);
      for (const step of steps) {
        const known =
          observed.kubernetes.kind === "reachable" &&
          observed.kubernetes.nodes.some(({ name }) => name === step.machine);
        if (disruptive(step) && known) expect(before.get(step.id)?.has(`drain/${step.machine}`)).toBe(true);
      }
    });
  });

  test("destroys what is reached through endpoints so that the way to the others ends last", () => {
    fc.assert(
      fc.property(cases, ({ desired, observed }) => {
        const plane = desired.machines.find(({ role }) => role === "controlplane");
        const talosEndpoints = [plane?.address ?? ""];
        const steps = planDestroy({ ...desired, talosEndpoints }, observed);
        const before = ancestors(steps);
        for (const step of steps) {
          if (step.machine !== plane?.name) continue;
          expect(before.get(step.id)?.size).toBe(steps.length - 1);
        }
      }),
      { numRuns: 100 },
    );
  });

  test("destroys everything that has our config and nothing else", () => {
    fc.assert(
      fc.property(cases, ({ desired, observed }) => {
        const ours = [...observed.machines.values()]
          .filter(({ state }) => state.kind === "configured")
          .map(({ name }) => name);
        expect(
          planDestroy(desired, observed)
            .map(({ machine }) => machine)
            .sort(),
        ).toEqual(ours.sort());
      }),
      { numRuns: 300 },
    );
  });
});
