// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { registerAddon } from "../../cli/commands/addon.ts";
import { registerBackup } from "../../cli/commands/backup.ts";
import { registerHealth, registerStatus } from "../../cli/commands/inspect.ts";
import {
  registerDestroy,
  registerPlan,
  registerRestore,
  registerRotateCa,
  registerScale,
  registerUp,
  registerUpgrade,
} from "../../cli/commands/lifecycle.ts";
import { registerMachine } from "../../cli/commands/machine.ts";
import { registerSim } from "../../cli/commands/sim.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { directoryStore, findBackup, removeBackup } from "../../engine/backup/index.ts";
import { loadEnvironment } from "../../model/index.ts";
import { systemClock } from "../../talos/clock.ts";
import { openConsoleProject } from "../../web/server/project.ts";
import type { Action } from "../../web/shared/wire.ts";
import { take } from "../engine/backup/take.ts";
import { testContext } from "../support/command-context.ts";
import { realSnapshot, sourceOf } from "../support/etcd-snapshot.ts";
import { kubernetesCall } from "../support/kubernetes-call.ts";
import { kubernetesGet } from "../support/kubernetes-get.ts";

const registrations = [
  registerUp,
  registerDestroy,
  registerScale,
  registerPlan,
  registerUpgrade,
  registerRotateCa,
  registerStatus,
  registerHealth,
  registerMachine,
  registerAddon,
  registerBackup,
  registerRestore,
  registerSim,
];

/** Backups, restore, drill and add-ons of one simulated machine, as a user would type them. */
describe("the commands for day two", () => {
  const root = mkdtempSync(join(tmpdir(), "talosmith-day-two-"));
  const helm = {
    TALOSMITH_HELM: resolve("test/support/stand-in-helm.mjs"),
    STAND_IN_HELM: join(root, "releases.json"),
  };
  const env = { PATH: process.env.PATH, TALOSCONFIG: join(root, "generated/tiny/talosconfig"), ...helm };

  async function talosmith(...args: string[]) {
    const context = testContext({ cwd: root, env, clock: systemClock });
    await runProgram(createProgram(context, registrations), args, context);
    return context.written;
  }
  const environment = (more = "") =>
    writeFileSync(
      join(root, "environments/tiny.yaml"),
      `infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\n${more}`,
    );
  const withBackups = (keep: string, recipient: string) =>
    `backup: { directory: backups, keep: ${keep}, pki: { ageRecipients: [${recipient}] } }\n`;
  let backups = "";

  beforeAll(async () => {
    vi.stubEnv("TALOSMITH_SIMULATOR_TIME_SCALE", "0.2");
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    environment();
    backups = withBackups("{ count: 1 }", await identityToRecipient(await generateIdentity()));
    expect((await talosmith("up", "tiny")).exitCode).toBe(0);
  });

  afterAll(async () => {
    await talosmith("sim", "down", "--all");
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  test("backup create of an environment without the section backup says what to add", async () => {
    const { stderr, exitCode } = await talosmith("backup", "create", "tiny");
    expect(stderr).toContain("environments/tiny.yaml has no section backup");
    expect(stderr).toContain("backup: { directory: backups/tiny }");
    expect(exitCode).toBe(1);
  });

  test("a backup is taken, listed, verified, and its age is seen in status and health", async () => {
    environment(backups);
    expect(JSON.parse((await talosmith("status", "tiny", "--json")).stdout).backup.problem).toContain(
      "no backup of tiny",
    );
    const created = JSON.parse((await talosmith("backup", "create", "tiny", "--json")).stdout);
    expect(created).toMatchObject({ v: 1, cluster: "tiny", pki: true });
    expect(readdirSync(join(root, "backups")).sort()).toEqual(
      [".db", ".json", ".secrets.age"].map((ending) => created.id + ending),
    );
    expect(readFileSync(join(root, "backups", `${created.id}.secrets.age`), "utf8")).toContain(
      "BEGIN AGE ENCRYPTED FILE",
    );
    expect((await talosmith("backup", "list", "tiny")).stdout).toContain(created.id);
    expect((await talosmith("backup", "verify", "tiny")).stdout).toBe(`${created.id}: OK\n`);
    const verified = JSON.parse((await talosmith("backup", "verify", "tiny", "--json")).stdout);
    expect(verified).toEqual({ v: 1, backup: created.id, whole: true });
    const { backup } = JSON.parse((await talosmith("status", "tiny", "--json")).stdout);
    expect(backup).toMatchObject({ last: created.id, place: "backups" });
    const lines = (await talosmith("health", "tiny", "--json", "--wait-timeout", "0")).stdout.trimEnd().split("\n");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ v: 1, type: "check", name: "etcd to be healthy" });
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ v: 1, type: "backup", last: created.id });
  });

  test("prune leaves what the file keeps", async () => {
    const newest = JSON.parse((await talosmith("backup", "create", "tiny", "--json")).stdout).id;
    expect((await talosmith("backup", "prune", "tiny", "--dry-run")).stderr).toContain("1 backup would be removed");
    const surplus = JSON.parse((await talosmith("backup", "prune", "tiny", "--dry-run", "--json")).stdout);
    expect(surplus).toEqual({ v: 1, backups: [expect.any(String)], removed: false });
    expect((await talosmith("backup", "prune", "tiny", "--yes")).stderr).toContain("1 backup removed");
    expect(JSON.parse((await talosmith("backup", "list", "tiny", "--json")).stdout).backups).toMatchObject([
      { id: newest },
    ]);
  });

  test("a drill restores the newest backup into a simulator of its own and finds the same revision and hash", async () => {
    const [backup] = JSON.parse((await talosmith("backup", "list", "tiny", "--json")).stdout).backups;
    const { stdout, exitCode } = await talosmith("backup", "drill", "tiny", "--json");
    const facts = { revision: backup.revision, hash: backup.hash, entries: backup.entries };
    expect(JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      type: "drill",
      backup: backup.id,
      same: true,
      expected: facts,
      restored: facts,
    });
    expect(exitCode).toBe(0);
  });

  test("a drill takes a backup of a real cluster's etcd as well", async () => {
    const store = directoryStore(join(root, "backups"), "backups");
    const { caFingerprint } = await findBackup(store, "tiny", "latest");
    const real = await take(store, sourceOf(realSnapshot), { cluster: "tiny", caFingerprint });
    const { stdout, exitCode } = await talosmith("backup", "drill", "tiny", real.id);
    expect(stdout).toBe(`${real.id}: restored, revision 33, hash ${real.hash}: the same.\n`);
    expect(exitCode).toBe(0);
    await removeBackup(store, real.id);
  });

  test("what another cluster of the same name has left is listed as such, and never taken for this one's", async () => {
    const store = directoryStore(join(root, "backups"), "backups");
    const { id: own } = await findBackup(store, "tiny", "latest");
    const later = { now: () => new Date(Date.now() + 60_000) };
    const other = await take(store, sourceOf(realSnapshot), { cluster: "tiny", clock: later });
    expect(JSON.parse((await talosmith("status", "tiny", "--json")).stdout).backup.last).toBe(own);
    expect((await talosmith("backup", "verify", "tiny")).stdout).toBe(`${own}: OK\n`);
    expect((await talosmith("backup", "list", "tiny")).stderr).toBe(
      `tiny is managed without Terraform.\n${other.id} is of another cluster that was called tiny.\n`,
    );
    const refused = await talosmith("restore", "tiny", "--from", other.id, "--yes");
    expect(refused.stderr).toContain(`${other.id} is of another cluster that was called tiny`);
    expect(refused.exitCode).toBe(1);
    await removeBackup(store, other.id);
  });

  test("restore refuses while the control plane has its data, before anyone is asked", async () => {
    for (const flags of [[], ["--yes"], ["--dry-run"]]) {
      const refused = await talosmith("restore", "tiny", "--from", "latest", ...flags);
      expect(refused.stderr).toContain("--discard-data");
      expect(refused.exitCode).toBe(1);
    }
    expect((await talosmith("restore", "tiny", "--from", "tiny-20200101T000000Z-0000", "--yes")).stderr).toContain(
      "holds no backup tiny-20200101T000000Z-0000",
    );
    // With the environment that was named, as it can be typed.
    const { stderr } = await talosmith("backup", "verify", "tiny", "nope");
    expect(stderr).toMatch(/ To list them: talosmith backup list tiny\n$/);
  });

  test("a dry run of restore names what is wiped and lost, then the steps, and changes nothing", async () => {
    const words = ["restore", "tiny", "--from", "latest", "--discard-data", "--dry-run"];
    const { stdout, exitCode } = await talosmith(...words);
    const taken = /tiny-\d+T\d+Z-[0-9a-f]{4} was taken \([\d-]+T[\d:.]+Z\)/;
    expect(stdout.replace(taken, "<backup>")).toBe(
      [
        "",
        "DANGER Data lost: the etcd data of tiny-cp-1 is wiped.",
        "DANGER Data lost: all changes in the Kubernetes of cluster tiny since <backup> are lost.",
        "",
        "Steps (4)",
        "  Restore etcd",
        "    tiny-cp-1: wipe etcd data, restore etcd from the backup, wait for etcd, wait for Kubernetes node",
        "",
      ].join("\n"),
    );
    expect(exitCode).toBe(0);
    const { steps } = JSON.parse((await talosmith(...words, "--json")).stdout);
    expect(steps).toHaveLength(4);
    expect(JSON.parse((await talosmith("status", "tiny", "--json")).stdout).machines).toMatchObject([
      { stage: "running" },
    ]);
  });

  describe("of a cluster that a state elsewhere has", () => {
    const owner = "environment tiny, backend s3:states/tiny.tfstate, workspace default";
    const collection = "/api/v1/namespaces/kube-system/configmaps";
    const call = (method: string, path: string, body?: object) =>
      kubernetesCall(readFileSync(join(root, "generated/tiny/kubeconfig"), "utf8"), method, path, body);
    const files = () =>
      ["environments/tiny.yaml", "secrets/tiny.yaml"].map((file) => readFileSync(join(root, file), "utf8"));

    beforeAll(() =>
      call("POST", collection, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "talosmith" },
        data: { owner, applies: "1" },
      }),
    );
    afterAll(() => call("DELETE", `${collection}/talosmith`));

    test.each([
      "plan tiny",
      "up tiny",
      "upgrade talos tiny --to v1.14.0 --dry-run",
      "upgrade talos tiny --to v1.14.0",
      "rotate-ca tiny --dry-run=false --yes",
      "restore tiny --from latest --discard-data --yes",
      "scale tiny cp --to 3 --dry-run",
      "scale tiny cp --to 3",
      "down tiny --yes",
      "destroy tiny --yes",
    ])("%s changes nothing", async (command) => {
      const before = files();
      const { stdout, stderr, exitCode } = await talosmith(...command.split(" "));
      expect(stderr).toContain(`Error: the cluster belongs to another state: ${owner}`);
      expect(stdout).not.toContain("Nothing to change");
      expect(exitCode).toBe(1);
      expect(files()).toEqual(before);
      expect(JSON.parse((await talosmith("status", "tiny", "--json")).stdout).machines).toMatchObject([
        { stage: "running" },
      ]);
    });

    /** Every action of the web console; "reads" for those that change nothing of a cluster. */
    const actions: Readonly<Record<Action["kind"], Action | "reads">> = {
      apply: { kind: "apply" },
      upgrade: { kind: "upgrade", talosVersion: "v1.14.0" },
      scale: { kind: "scale", pool: "cp", count: 3 },
      destroy: { kind: "destroy" },
      reboot: { kind: "reboot", machine: "tiny-cp-1" },
      cordon: { kind: "cordon", machine: "tiny-cp-1" },
      uncordon: { kind: "uncordon", machine: "tiny-cp-1" },
      drain: { kind: "drain", machine: "tiny-cp-1" },
      backup: "reads",
      drill: "reads",
    };
    const changing = Object.values(actions).filter((action) => action !== "reads");

    test.each(changing)("$kind in the web console is refused, planned and performed", async (action) => {
      const before = files();
      const node = async () => JSON.parse(await call("GET", "/api/v1/nodes/tiny-cp-1")).spec;
      const schedulable = await node();
      const context = testContext({ cwd: root, env, clock: systemClock });
      const { plan, perform } = openConsoleProject(root, context);
      const loaded = loadEnvironment(root, "tiny");
      const refused = `the cluster belongs to another state: ${owner}`;
      await expect(plan(loaded, action, context.signal)).rejects.toThrow(refused);
      await expect(perform(loaded, action, () => {}, context.signal)).rejects.toThrow(refused);
      expect(files()).toEqual(before);
      expect(await node()).toEqual(schedulable);
    });
  });

  test("a cluster whose control plane was wiped comes back with what the backup held", async () => {
    const kubeconfig = join(root, "generated/tiny/kubeconfig");
    const uid = async () => {
      const text = await kubernetesGet(readFileSync(kubeconfig, "utf8"), "/api/v1/namespaces/kube-system");
      return JSON.parse(text).metadata.uid;
    };
    const before = await uid();
    const { machines } = JSON.parse((await talosmith("status", "tiny", "--json")).stdout);
    await talosmith("reset", "-n", machines[0].address, "--graceful=false", "--reboot", "--yes");
    await expect
      .poll(async () => JSON.parse((await talosmith("status", "tiny", "--json")).stdout).machines[0].stage, {
        timeout: 20_000,
      })
      .toBe("maintenance");
    const { stderr, exitCode } = await talosmith("restore", "tiny", "--from", "latest", "--yes");
    expect(stderr).toContain("tiny is back");
    // One count from the first step to the last.
    expect(stderr).toMatch(/\nSteps \(4\)\n/);
    const counts = [...stderr.matchAll(/ \[(\d+)\/(\S+)\] ✓ /g)].map(([, done, all]) => `${done}/${all}`);
    expect([...new Set(counts)]).toEqual(["1/4", "2/4", "3/4", "4/4"]);
    expect(exitCode).toBe(0);
    expect(await uid()).toBe(before);
  });

  test("add-ons go in with up, are listed, rolled back, and removed when the file names them no more", async () => {
    mkdirSync(join(root, "charts/app"), { recursive: true });
    writeFileSync(join(root, "charts/app/Chart.yaml"), "apiVersion: v2\nname: app\nversion: 0.1.0\n");
    const addons = (replicas: number) =>
      `addons:\n- { name: second, chart: ./charts/app, after: [first] }\n- { name: first, chart: ./charts/app, values: { replicas: ${replicas} } }\n`;
    environment(addons(1));
    const first = await talosmith("up", "tiny");
    expect(first.stderr).toMatch(/add-on first: applied[\s\S]*add-on second: applied/);
    environment(addons(2));
    const { addons: listed } = JSON.parse((await talosmith("addon", "list", "tiny", "--json")).stdout);
    expect(listed).toMatchObject([
      { name: "first", state: "to change", revision: 1 },
      { name: "second", state: "up to date", status: "deployed" },
    ]);
    expect((await talosmith("addon", "apply", "tiny")).stderr).toContain("first: applied");
    expect((await talosmith("addon", "rollback", "tiny", "first", "1")).stderr).toContain("first is at revision 3");
    environment("addons:\n- { name: first, chart: ./charts/app }\n");
    expect((await talosmith("up", "tiny")).stderr).toContain("add-on second: removed");
  });

  test("a plan has the add-ons and the backup that a deploy changes, and nothing when they are up to date", async () => {
    const later = backups.replace("directory: backups", "directory: later");
    const addon = (replicas: number) =>
      `addons:\n- { name: first, chart: ./charts/app, values: { replicas: ${replicas} } }\n`;
    const planned = async () => {
      const { stdout, exitCode } = await talosmith("plan", "tiny", "--json");
      return { exitCode, changes: JSON.parse(stdout).infrastructure.map(({ what }: { what: string }) => what) };
    };
    environment(later + addon(3));
    expect(await planned()).toEqual({ exitCode: 2, changes: ["change add-on", "take a backup"] });
    expect((await talosmith("up", "tiny")).stderr).toMatch(/add-on first: applied[\s\S]*take a backup/);
    expect(readdirSync(join(root, "later"))).toHaveLength(3);
    expect(await planned()).toEqual({ exitCode: 0, changes: [] });
    environment(later);
    expect(await planned()).toEqual({ exitCode: 2, changes: ["destroy add-on"] });
    expect((await talosmith("up", "tiny")).stderr).toContain("add-on first: removed");
    expect(await planned()).toEqual({ exitCode: 0, changes: [] });
    environment(later + addon(3));
  });

  test("without helm nothing is changed, and it is said how to get it", async () => {
    const context = testContext({ cwd: root, env: { PATH: root }, clock: systemClock });
    await runProgram(createProgram(context, registrations), ["up", "tiny"], context);
    expect(context.written.stderr).toContain("add-ons need helm");
    expect(context.written.stderr).toContain("https://helm.sh");
    expect(context.written.exitCode).toBe(1);
  });
});
