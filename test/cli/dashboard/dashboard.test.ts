// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { watchWith } from "../../../cli/actions/dashboard.ts";
import { afterKey, firstState, plainDashboard, screen } from "../../../cli/dashboard/screen.ts";
import { keysIn } from "../../../cli/dashboard/terminal.ts";
import { loadEnvironment } from "../../../model/index.ts";
import {
  type ClusterView,
  type ConsoleProject,
  type MachineDetail,
  type MachineRow,
  unknownMachine,
} from "../../../web/server/index.ts";
import type { Condition } from "../../../web/shared/wire.ts";
import { idleProject } from "../../support/console-project.ts";

const now = new Date("2026-11-16T12:00:00Z");

const machine = (name: string, more: Partial<MachineRow> = {}): MachineRow => ({
  name,
  role: "controlplane",
  address: "127.9.9.2",
  health: "ready",
  stage: "running",
  talosVersion: "v1.13.9",
  kubeletVersion: "v1.36.3",
  cordoned: false,
  etcd: "member",
  ...more,
});

const condition = (type: string, status: Condition["status"], reason: string, message: string): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-11-16T11:59:00Z",
  ok: status === (type === "Drifted" ? "False" : "True"),
});

const cluster = (more: Partial<ClusterView> = {}): ClusterView => ({
  environment: "lab",
  kind: "metal",
  cluster: "lab",
  talosVersion: "v1.13.9",
  kubernetesVersion: "1.36.3",
  endpoint: "https://10.0.0.1:6443",
  state: "healthy",
  note: null,
  seenAt: now.toISOString(),
  machines: [machine("cp-1", { etcd: "leader" }), machine("cp-2"), machine("cp-3")],
  conditions: [condition("EtcdHealthy", "True", "AllMembersHealthy", "3 of 3 members healthy")],
  checks: [],
  etcd: { members: [], voters: 3, healthy: 3, quorum: 2, spare: 1 },
  pending: [],
  differences: [],
  certificates: [{ name: "kubeconfig", expiresAt: now.toISOString(), daysLeft: 300 }],
  pools: [],
  backups: null,
  simulated: null,
  obstacle: null,
  ...more,
});

describe("the screen", () => {
  const size = { columns: 120, rows: 20 };

  test("shows the cluster, its machines, the chosen one and the keys", () => {
    const lines = screen({ cluster: cluster() }, { ...firstState, chosen: 1 }, size, now);
    expect(lines).toHaveLength(20);
    expect(lines[0]).toBe("lab: healthy   metal   Talos v1.13.9   Kubernetes 1.36.3   https://10.0.0.1:6443");
    expect(lines[1]).toBe("etcd: 3 of 3 healthy, quorum 2, 1 more may fail");
    expect(lines.find((line) => line.startsWith(">"))).toContain("cp-2");
    expect(lines).toContain("1 of 1 conditions OK");
    expect(lines.at(-1)).toContain("q quit");
  });

  test("tells what is not met, since when, and what there is to do", () => {
    const text = plainDashboard(
      cluster({
        state: "unhealthy",
        note: "etcd to be healthy: cp-2 does not answer",
        conditions: [
          condition("EtcdHealthy", "False", "QuorumLost", "1 of 3 members healthy"),
          condition("Drifted", "False", "AsDeclared", "the cluster is what its file says"),
        ],
        pending: [{ id: "x", sentence: "upgrade cp-3", destructive: false }],
        etcd: { members: [], voters: 3, healthy: 1, quorum: 2, spare: -1 },
      }),
      now,
    );
    expect(text).toContain("it has stopped");
    expect(text).toContain("1 of 2 conditions OK\n  EtcdHealthy is False: QuorumLost: 1 of 3 members healthy (60s)\n");
    expect(text).toContain("Steps to do (1)\n  Machines\n    cp-3: upgrade\n");
  });

  test("fits into any terminal, and keeps the chosen machine on it", () => {
    const many = cluster({ machines: Array.from({ length: 200 }, (_, i) => machine(`w-${i}`)) });
    for (const [columns, rows] of [
      [40, 8],
      [80, 24],
      [200, 60],
    ] as const) {
      const lines = screen({ cluster: many }, { ...firstState, chosen: 150 }, { columns, rows }, now);
      expect(lines).toHaveLength(rows);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
      expect(lines.some((line) => line.startsWith("> w-150"))).toBe(true);
    }
  });

  test("of a machine shows its services, or why it has none", () => {
    const detail: MachineDetail = {
      name: "cp-1",
      problem: null,
      schematic: null,
      services: [{ name: "etcd", state: "Running", healthy: true }],
      addresses: ["10.0.0.1"],
      disks: [{ name: "sda", size: "20 GB", model: "x" }],
      config: null,
      changes: [],
      moved: null,
    };
    const open = { ...firstState, open: true };
    expect(screen({ cluster: cluster(), machine: detail }, open, size, now).join("\n")).toMatch(/etcd +Running +yes/);
    const away = { ...detail, problem: "it does not answer" };
    expect(screen({ cluster: cluster(), machine: away }, open, size, now)).toContain("it does not answer");
    expect(screen({ cluster: cluster() }, open, size, now)).toContain("asking it …");
  });
});

describe("keys", () => {
  test.each([
    ["\u001b[B\u001b[B", { chosen: 2 }],
    ["jjjjjj", { chosen: 2 }],
    ["jjk", { chosen: 1 }],
    ["\u001b[F\u001b[H", { chosen: 0 }],
    ["j\r", { chosen: 1, open: true }],
    ["\r\u001b", { open: false }],
    ["x", { ended: false }],
    ["q", { ended: true }],
    ["\u0003", { ended: true }],
  ])("%j lead to %j", (typed, expected) => {
    const end = keysIn(typed).reduce((state, key) => afterKey(state, key, 3), firstState);
    expect(end).toMatchObject(expected);
  });

  test("choose nothing where there is nothing", () => {
    expect(keysIn("j\r").reduce((state, key) => afterKey(state, key, 0), firstState)).toEqual(firstState);
  });
});

describe("the dashboard at work", () => {
  /** What it showed until a line began like this; then somebody presses q. */
  async function shownUntil(first: string, load: ConsoleProject["load"]): Promise<string[][]> {
    const shown: string[][] = [];
    let press: (key: string) => void = () => {};
    const project = idleProject({ load });
    await watchWith(
      {
        size: () => ({ columns: 80, rows: 10 }),
        show: (lines) => {
          shown.push([...lines]);
          if (lines[0]?.startsWith(first)) press("q");
        },
        onKey: (listener) => {
          press = listener;
        },
        onResize: () => {},
        close: () => {},
      },
      {
        project,
        interval: 10,
        now: () => now,
        askMachine: async (name) => unknownMachine(name, "not deployed"),
        signal: new AbortController().signal,
      },
    );
    return shown;
  }

  test("draws what it sees and ends with q", async () => {
    const shown = await shownUntil("local: not deployed", (name) => loadEnvironment(".", name));
    expect(shown[0]).toEqual(["looking …"]);
    expect(shown.at(-1)?.[0]).toContain("local: not deployed   simulated");
  });

  test("shows what is wrong with a file that somebody has just broken, and the cluster again once it is mended", async () => {
    let broken = true;
    const shown = await shownUntil("local: not deployed", (name) => {
      if (!broken) return loadEnvironment(".", name);
      broken = false;
      throw new Error("environments/local.yaml:1:1\n  found a list");
    });
    const [first, second, ...more] = shown.find(([line]) => line?.includes("local.yaml")) ?? [];
    expect([first, second, more.at(-1)]).toEqual(["environments/local.yaml:1:1", "  found a list", "q quit"]);
  });
});
