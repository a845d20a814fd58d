// SPDX-License-Identifier: Apache-2.0
// Add-ons, stopped (SIGINT) or killed (SIGKILL) after every write of helm to the cluster: one rerun must be enough. The
// other operations: test/engine/interruption.test.ts.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  type Addon,
  type AddonOptions,
  addonHash,
  addonState,
  applyAddon,
  applyAddons,
  releasesOf,
  releaseWithHash,
  removeAddon,
  surplusAddons,
} from "../../../engine/addon/index.ts";
import { TalosError } from "../../../talos/errors.ts";
import { type Cut, emptyCluster, type HelmCluster, helmRun } from "./helm-model.ts";

function addon(name: string, objects: Readonly<Record<string, string>>, more: Partial<Addon> = {}): Addon {
  return {
    name,
    namespace: "apps",
    chart: "oci://registry.example.com/app",
    // One with a hook is enough.
    values: [JSON.stringify(name === "app" ? { objects, hook: "app-hook" } : { objects })],
    ...more,
  };
}

type Run = (wished: readonly Addon[], options: AddonOptions) => Promise<void>;

/** As `up` and `deploy` without Terraform do it. */
const alone = (): Run => async (wished, options) => {
  await applyAddons(wished, options);
  for (const release of await surplusAddons(wished, options)) await removeAddon(release, options);
};

/** As Terraform calls the provider: it refreshes what its state has, and keeps what a call has returned. */
function terraform(): Run {
  const state = new Map<string, { readonly addon: Addon; readonly fingerprint: string }>();
  return async (wished, options) => {
    const current = new Set<string>();
    for (const [name, { addon: known, fingerprint }] of state) {
      const release = await releasesOf(options).find(known);
      if (release === undefined) state.delete(name);
      const same = await releaseWithHash(known, fingerprint, options);
      if (release?.status === "deployed" && same?.revision === release.revision) current.add(name);
    }
    for (const [name, { addon: known }] of state) {
      if (wished.some((one) => one.name === name)) continue;
      await removeAddon(known, options);
      state.delete(name);
    }
    for (const one of wished) {
      const fingerprint = addonHash(one);
      if (current.has(one.name) && state.get(one.name)?.fingerprint === fingerprint) continue;
      await applyAddon(one, options);
      state.set(one.name, { addon: one, fingerprint });
    }
  };
}

const first = [addon("app", { a: "1", b: "1" })];
const changed = [addon("app", { a: "2", c: "1" })];
const two = [addon("first", { y: "1" }), addon("second", { z: "1" })];
const operations: readonly {
  readonly name: string;
  readonly before: readonly (readonly Addon[])[];
  readonly after: readonly Addon[];
  /** What a person wants instead, after the interruption. */
  readonly instead?: readonly Addon[];
}[] = [
  { name: "install", before: [], after: first },
  { name: "install without waiting", before: [], after: [addon("app", { a: "1" }, { wait: false })] },
  { name: "install of two", before: [], after: two },
  { name: "upgrade", before: [first], after: changed },
  {
    name: "upgrade without waiting",
    before: [first],
    after: changed.map((one) => ({ ...one, wait: false })),
  },
  { name: "removal", before: [first, changed], after: [] },
  { name: "removal that is wanted back", before: [first], after: [], instead: first },
  { name: "removal of one of two", before: [two], after: two.slice(1) },
];

/** A temporary folder for these tests alone: what is left in it they have left. */
const temporary = mkdtempSync(join(tmpdir(), "talosmith-addons-"));
beforeAll(() => void vi.stubEnv("TMPDIR", temporary));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true, force: true });
});

const optionsOf = (cluster: HelmCluster, cut?: Cut) => {
  const run = helmRun(cluster, cut);
  return { ...run, options: { helm: run.helm, kubeconfig: "kubeconfig", signal: run.signal } };
};

async function prepared(before: readonly (readonly Addon[])[], run: Run): Promise<HelmCluster> {
  const cluster = emptyCluster();
  for (const wished of before) await run(wished, optionsOf(cluster).options);
  return cluster;
}

/** What must be the same at the end, however often the run was interrupted: not the numbers of revisions. */
async function outcome(cluster: HelmCluster, wished: readonly Addon[]) {
  const { options } = optionsOf(cluster);
  const states = await Promise.all(wished.map(async (one) => (await addonState(one, options)).state));
  const releases = [...cluster.releases].map(([name, history]) => ({
    name,
    deployed: history.filter(({ status }) => status === "deployed").length,
    unfinished: history.filter(({ status }) => status === "uninstalling").length,
    last: history.at(-1)?.status,
  }));
  // A hook's objects are no part of a release: helm leaves them, whoever made them last.
  const objects = [...cluster.objects].filter(([name]) => !name.endsWith("-hook")).sort();
  return { states, releases, objects, surplus: await surplusAddons(wished, options) };
}

/** Interrupts a run; how it ended. */
async function interrupt(run: Run, wished: readonly Addon[], cluster: HelmCluster, cut: Cut): Promise<unknown> {
  return run(wished, optionsOf(cluster, cut).options).then(
    () => "done",
    (error: unknown) => (error instanceof TalosError ? error.code : error),
  );
}

const paths = [
  { path: "alone", runner: alone },
  { path: "terraform", runner: terraform },
];

describe.each(operations)("$name of add-ons, interrupted", ({ before, after, instead = after }) => {
  /** The undisturbed run: its writes, and what it leaves. */
  async function undisturbed(run: Run) {
    const cluster = await prepared(before, run);
    const start = cluster.writes.length;
    await run(after, optionsOf(cluster).options);
    const writes = cluster.writes.slice(start);
    if (instead !== after) await run(instead, optionsOf(cluster).options);
    return { writes, expected: await outcome(cluster, instead) };
  }

  /** To be called after the interruptions: one run must complete it, and the next has nothing to do. */
  async function complete(run: Run, cluster: HelmCluster, where: string) {
    await run(instead, optionsOf(cluster).options).catch((error: unknown) => {
      throw new Error(`${where}: ${error}\n${cluster.writes.join("\n")}`, { cause: error });
    });
    const { options, count } = optionsOf(cluster);
    await run(instead, options);
    expect(count(), where).toBe(0);
    return outcome(cluster, instead);
  }

  describe.each(paths)("$path", ({ runner }) => {
    test.each(["SIGINT", "SIGKILL"] as const)("by %s after any write, needs one rerun", async (signal) => {
      const { writes, expected } = await undisturbed(runner());
      expect(writes.length).toBeGreaterThanOrEqual(3);
      expect(expected.states.every((state) => state === "up to date")).toBe(true);
      for (let at = 1; at <= writes.length; at++) {
        const run = runner();
        const cluster = await prepared(before, run);
        const where = `${signal} after ${at}, ${writes[at - 1]}`;
        const ended = await interrupt(run, after, cluster, { after: at, signal });
        expect([signal === "SIGINT" ? "canceled" : "internal", "done"], where).toContain(ended);
        expect(await complete(run, cluster, where), where).toEqual(expected);
      }
      expect(readdirSync(temporary)).toEqual([]);
    });
  });

  test("by SIGKILL, and again while the rerun repairs what the first has left, needs one more", async () => {
    const { writes, expected } = await undisturbed(alone());
    // In the middle of the objects, where there is most to repair.
    const at = Math.ceil(writes.length / 2);
    for (let again = 1, ended: unknown; ended !== "done"; again++) {
      const run = alone();
      const cluster = await prepared(before, run);
      await interrupt(run, after, cluster, { after: at, signal: "SIGKILL" });
      ended = await interrupt(run, instead, cluster, { after: again, signal: "SIGKILL" });
      const where = `SIGKILL after ${at}, ${writes[at - 1]}; the rerun after ${again}`;
      expect(await complete(run, cluster, where), where).toEqual(expected);
    }
  });
});
