// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type StepAction, step } from "../../engine/step.ts";
import { infrastructureChanges, parsePlan, renderText, reviewPlan } from "../../review/index.ts";
import { groupSteps } from "../../review/step-groups.ts";

const planOf = (type: string, actions: readonly string[], before: object | null, after: object | null) =>
  JSON.stringify({
    format_version: "1.2",
    resource_changes: [{ address: `${type}.it`, mode: "managed", type, change: { actions, before, after } }],
  });
const textOf = (plan: string) => renderText(reviewPlan(parsePlan(plan, "plan.json")));

const plane = { role: "controlplane", member_id: "m", address: "10.0.0.1" };
const cluster = (...names: string[]) => ({
  name: "lab",
  on_destroy: "reset",
  machines: Object.fromEntries(names.map((name) => [name, plane])),
});

describe("a plan for a terminal", () => {
  test("is short: dangers, infrastructure, steps by phase and machine", () => {
    const plan = readFileSync(new URL("../golden/plans/scale-down.json", import.meta.url), "utf8");
    expect(textOf(plan)).toBe(
      `DANGER Quorum touched: local-cp-2, local-cp-3 leave etcd and are wiped: local goes from 3 to 1 control planes and then survives the loss of none.

Infrastructure (3)
  destroy 2 machines: local-cp-2, local-cp-3
  change client files: generated/local/kubeconfig, generated/local/talosconfig

Steps (6)
  Remove machines
    local-cp-2, local-cp-3: drain, remove from the cluster and wipe its disk, delete Kubernetes node
`,
    );
  });

  test.each([
    ["keep", ""],
    [undefined, ""],
    ["remove", "Infrastructure (1)\n  destroy backup: it\n"],
  ])("says of a backup that it is destroyed only where it is: on_destroy %s", (onDestroy, expected) => {
    const before = { directory: "backups", on_destroy: onDestroy };
    expect(textOf(planOf("talosmith_etcd_snapshot", ["delete"], before, null))).toBe(expected);
  });

  test("has versions, and config changes once for all machines that get them", () => {
    const machines = ["cp-1", "cp-2"];
    const before = { ...cluster(...machines), talos_version: "v1.13.8", kubernetes_version: "1.36.3" };
    const changes = Object.fromEntries(machines.map((name) => [name, ["machine.sysctls.a: none → 1"]]));
    const after = { ...before, talos_version: "v1.13.9", changes, steps: ["1. drain cp-1", "2. drain cp-2"] };
    const text = textOf(planOf("talosmith_cluster", ["update"], before, after));
    expect(text).toContain("Cluster lab\n  Talos v1.13.8 → v1.13.9\n\n");
    expect(text).toContain("Steps (2)\n  Machines\n    cp-1, cp-2: drain\n");
    expect(text).toContain("Config changes, secrets masked\n  cp-1, cp-2:\n    machine.sysctls.a: none → 1\n");
  });

  test("names what was copied from an example", () => {
    const rule = { from_port: 6443, to_port: 6443, cidr_ipv4: "203.0.113.0/24", ip_protocol: "tcp" };
    const text = textOf(planOf("aws_vpc_security_group_ingress_rule", ["create"], null, rule));
    expect(text).toMatch(/^Placeholder: 203\.0\.113\.0\/24 is .+\n\nInfrastructure \(1\)\n {2}create aws_vpc.+: it\n$/);
  });

  test("is empty without changes", () => {
    expect(textOf(JSON.stringify({ format_version: "1.2" }))).toBe("");
  });
});

test("client files are listed one by one, and a backup that is to be taken has no name yet", () => {
  const change = (type: string, address: string, name: string) =>
    ({ type, address, name, action: "create", attributes: [], replacedFor: [] }) as const;
  const resources = [
    change(
      "talosmith_client_files",
      "talosmith_client_files.client",
      "generated/t/kubeconfig, generated/t/talosconfig",
    ),
    change("talosmith_etcd_snapshot", "talosmith_etcd_snapshot.backup", "backup"),
  ];
  expect(infrastructureChanges({ resources })).toMatchObject([
    { what: "create client files", names: ["generated/t/kubeconfig", "generated/t/talosconfig"] },
    { what: "take a backup", names: [] },
  ]);
});

/** One of each kind: a kind without a phase of its own is in the last. */
const phases: readonly (readonly [StepAction, string, string])[] = [
  [{ kind: "apply-config", machine: "w-1", effect: "install" }, "Apply initial configs", "apply initial config"],
  [{ kind: "apply-config", machine: "w-1", effect: "reboot" }, "Change configs", "apply config and reboot it"],
  [{ kind: "write-meta", machine: "w-1", keys: [10] }, "Change configs", "write META key 10"],
  [{ kind: "bootstrap-etcd", machine: "w-1" }, "Bootstrap etcd", "bootstrap etcd"],
  [{ kind: "join-etcd", machine: "w-1" }, "Wait for machines", "wait for etcd"],
  [{ kind: "join-kubernetes", machine: "w-1" }, "Wait for machines", "wait for Kubernetes node"],
  [{ kind: "remove-etcd-member", machine: "w-1", memberId: "a1" }, "Remove machines", "remove dead etcd member a1"],
  [{ kind: "forfeit-leadership", machine: "w-1" }, "Machines", "transfer etcd leadership"],
  [{ kind: "pull-installer", machine: "w-1", image: "i:v1" }, "Pull images", "pull i:v1"],
  [{ kind: "pull-images", machine: "w-1", images: [] }, "Pull images", "pull Kubernetes images"],
  [{ kind: "drain", machine: "w-1" }, "Machines", "drain"],
  [{ kind: "cordon", machine: "w-1" }, "Machines", "cordon"],
  [{ kind: "uncordon", machine: "w-1" }, "Machines", "uncordon"],
  [{ kind: "reboot", machine: "w-1" }, "Machines", "reboot"],
  [
    { kind: "reset", machine: "w-1", graceful: true, staysOff: false },
    "Remove machines",
    "remove from the cluster and wipe its disk",
  ],
  [{ kind: "delete-node", machine: "w-1" }, "Remove machines", "delete Kubernetes node"],
  [{ kind: "wipe-etcd", machine: "w-1" }, "Restore etcd", "wipe etcd data"],
  [{ kind: "restore-etcd", machine: "w-1", snapshot: "s" }, "Restore etcd", "restore etcd from the backup"],
  [
    { kind: "upgrade-talos", machine: "w-1", from: "v1", to: "v2", image: "i" },
    "Upgrade Talos",
    "upgrade Talos from v1 to v2",
  ],
  [
    { kind: "upgrade-kubernetes", machine: "w-1", component: "kubelet", from: "1.36.1", to: "1.36.3" },
    "Upgrade Kubernetes",
    "upgrade kubelet from 1.36.1 to 1.36.3",
  ],
  [
    { kind: "sync-manifests", machine: "w-1" },
    "Upgrade Kubernetes",
    "update kube-proxy, DNS and network by the manifests",
  ],
];

describe("steps", () => {
  test.each(phases)("%o are in the phase %s", (action, phase, text) => {
    expect(groupSteps([step(action).sentence], ["w-1", "w-11"])).toEqual([
      { phase, machines: ["w-1"], actions: [text] },
    ]);
  });

  test("of one machine are told from those of a longer name", () => {
    const found = groupSteps(["drain w-11", "drain w-1"], ["w-1", "w-11"]);
    expect(found).toEqual([{ phase: "Machines", machines: ["w-11", "w-1"], actions: ["drain"] }]);
  });

  test("are all there, in their order, whatever they are", () => {
    const names = ["w-1", "w-11", "cp.lab"];
    const some = fc.array(fc.tuple(fc.constantFrom(...phases.map(([action]) => action)), fc.constantFrom(...names)));
    fc.assert(
      fc.property(some, (chosen) => {
        const sentences = chosen.map(([action, machine]) => step({ ...action, machine } as StepAction).sentence);
        const groups = groupSteps(sentences, names);
        const count = groups.reduce((sum, { machines, actions }) => sum + machines.length * actions.length, 0);
        expect(count).toBe(sentences.length);
        const order = chosen.map(([, machine]) => machine);
        expect(groups.flatMap(({ machines, actions }) => machines.flatMap((name) => actions.map(() => name)))).toEqual(
          order,
        );
      }),
    );
  });
});
