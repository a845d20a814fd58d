// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import {
  type ApplyOptions,
  applyCluster,
  type Claim,
  checkOwner,
  claimed,
  destroyCluster,
  type Journal,
  type JournalEntry,
  leaveCluster,
  type Machines,
  type Ownership,
  otherOwner,
  previewCluster,
  released,
  releaseOwner,
} from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { TalosError } from "../../talos/errors.ts";
import { lab, testSecrets, wish } from "./fixture.ts";

const name = (workspace: string, environment = "prod") =>
  `environment ${environment}, backend s3:states/prod.tfstate, workspace ${workspace}`;
const [first, second, moved] = [name("default"), name("other"), name("default").replace("s3", "http")];
const joining = name("default", "more-workers");

const claim = (owner: string, more: Partial<Claim> = {}): Claim => ({
  owner,
  isNew: false,
  joins: false,
  applies: 0,
  ...more,
});
const create = (owner: string, more: Partial<Claim> = {}) => claim(owner, { isNew: true, ...more });
const owned: Ownership = { owner: first, joined: [joining], applies: 4, changed: "2026-11-17T12:00:00.000Z" };

describe("a claim", () => {
  test.each<[string, Ownership | undefined, Claim, string | undefined]>([
    ["of a cluster that nobody has", undefined, create(second), undefined],
    ["of one that was only given up", { joined: [], applies: 4 }, create(second), undefined],
    ["of its own cluster, whose create failed", owned, create(first), undefined],
    ["of another workspace's cluster", owned, create(second), first],
    ["of another environment's cluster", owned, create(name("default", "copy")), first],
    ["of a state that has it, with its name", owned, claim(first), undefined],
    ["of a state that has imported it, and has no name in it yet", owned, claim(second), undefined],
    ["of a state that has it, whose backend was moved", owned, claim(moved, { formerly: [first] }), undefined],
    ["of a state that had it until another took it over", owned, claim(second, { formerly: [second] }), first],
    [
      "of a state whose copy has applied since",
      { ...owned, owner: moved, formerly: [first] },
      claim(first, { formerly: [first] }),
      undefined,
    ],
    ["of its own cluster, which a copy has now", { ...owned, owner: moved, formerly: [first] }, create(first), moved],
    ["of workers that join it", { ...owned, joined: [] }, create(joining, { joins: true }), undefined],
    ["of workers that joined it", owned, claim(joining), undefined],
    [
      "of the same workers in another workspace",
      owned,
      create(name("other", "more-workers"), { joins: true }),
      joining,
    ],
    ["of other workers that join it", owned, create(name("default", "yet-more"), { joins: true }), undefined],
  ])("%s", (_, known, wanted, expected) => {
    expect(otherOwner(known, wanted)).toBe(expected);
  });

  test("counts on from whoever has seen more", () => {
    const at = "2026-11-18T12:00:00.000Z";
    expect(claimed(undefined, create(first), at)).toEqual({ owner: first, joined: [], applies: 1, changed: at });
    expect(claimed(owned, claim(second, { applies: 4 }), at)).toEqual({
      owner: second,
      joined: [joining],
      applies: 5,
      changed: at,
    });
    const copied = claimed(owned, claim(moved, { formerly: [first] }), at);
    expect(copied).toMatchObject({ owner: moved, formerly: [first], applies: 5 });
    expect(claimed(copied, claim(first, { formerly: [first] }), at)).toMatchObject({ owner: first, formerly: [moved] });
    // One that imported it shares no name with those before.
    expect(claimed(copied, claim(second), at).formerly).toBeUndefined();
    // After a restore from a backup the cluster has seen less than the state.
    expect(claimed(owned, claim(first, { applies: 9 }), at).applies).toBe(10);
    const more = name("default", "yet-more");
    expect(claimed(owned, create(more, { joins: true }), at)).toEqual({ ...owned, joined: [joining, more] });
  });

  test("keeps the last of many names", () => {
    let record: Ownership | undefined;
    for (let run = 1; run <= 30; run++)
      record = claimed(record, claim(`run ${run}`, { formerly: [`run ${run - 1}`] }), "now");
    expect(record?.formerly).toEqual(Array.from({ length: 20 }, (_, index) => `run ${index + 10}`));
  });

  test("that is given up leaves what others have", () => {
    const { owner: _, ...free } = owned;
    expect(released(owned, claim(first))).toEqual(free);
    expect(released(owned, claim(moved, { formerly: [first] }))).toEqual(free);
    expect(released(owned, claim(second))).toEqual(owned);
    expect(released(owned, claim(joining, { joins: true }))).toEqual({ ...owned, joined: [] });
    expect(released(undefined, claim(first))).toEqual({ joined: [], applies: 0 });
  });
});

function withSilentKubernetes(machines: Machines): Machines {
  const reason = "kubernetes: connection refused";
  const silent = () => Promise.reject(new TalosError("unavailable", reason));
  const observe = async () => ({ kind: "unreachable", reason }) as const;
  return {
    ...machines,
    kubernetes: { ...machines.kubernetes, observe, readOwnership: silent, changeOwnership: silent },
  };
}

function memoryJournal(known: readonly Pick<JournalEntry, "step" | "event">[]): Journal {
  const cluster = wish({ controlPlanes: ["cp-1"], workers: [] }).caFingerprint;
  const entries = known.map((entry) => ({ ...entry, cluster, at: "2026-11-17T12:00:00.000Z" }));
  return {
    append: async (entry) => {
      entries.push(entry);
    },
    entries: async () => entries,
  };
}

describe("the engine", () => {
  const desired = wish({ controlPlanes: ["cp-1"], workers: ["w-1"] });

  async function running() {
    const { world, timing, apply } = lab(desired);
    const made = await apply(desired, { claim: create(first) });
    world.log.length = 0;
    const options = { desired, secrets: testSecrets(), policy: defaultPolicy, machines: world.port(), timing };
    return { world, options, made };
  }
  const refused = expect.objectContaining({
    code: "already-exists",
    message: `the cluster belongs to another state: ${first}`,
    hint: expect.stringContaining("terraform import"),
  });

  test("records who has made a cluster, and counts each apply", async () => {
    const { world, options, made } = await running();
    expect(made.applies).toBe(1);
    expect(world.ownership).toMatchObject({ owner: first, applies: 1 });
    expect((await applyCluster({ ...options, claim: claim(first, { applies: 1 }) })).applies).toBe(2);
    // The rerun of a create that failed at its end.
    expect((await applyCluster({ ...options, claim: create(first) })).applies).toBe(3);
  });

  test("changes nothing of a cluster that another state has", async () => {
    const { world, options } = await running();
    const other = { ...options, claim: create(second) };
    const wanted = wish({ controlPlanes: ["cp-1"], workers: [], leaving: ["w-1"] });
    await expect(applyCluster({ ...other, desired: wanted })).rejects.toEqual(refused);
    await expect(applyCluster(other)).rejects.toEqual(refused);
    const removal = { ...options, claim: claim(second, { formerly: [second] }) };
    await expect(leaveCluster({ ...removal, desired: wanted })).rejects.toEqual(refused);
    await expect(destroyCluster(removal)).rejects.toEqual(refused);
    await expect(checkOwner(removal)).rejects.toEqual(refused);
    expect(world.log).toEqual([]);
    expect(world.ownership).toMatchObject({ owner: first, applies: 1 });
  });

  test("only looks for those who have no state", async () => {
    const { world, options } = await running();
    const before = world.ownership;
    const look = (owner: string) => ({ ...options, claim: create(owner, { onlyCheck: true }) });
    expect((await applyCluster(look(first))).applies).toBeUndefined();
    await expect(applyCluster(look(second))).rejects.toEqual(refused);
    await expect(destroyCluster(look(second))).rejects.toEqual(refused);
    expect(world.ownership).toEqual(before);
  });

  test("takes a cluster over for a state that has it, as after an import", async () => {
    const { world, options } = await running();
    expect((await applyCluster({ ...options, claim: claim(second) })).applies).toBe(2);
    expect(world.ownership?.owner).toBe(second);
    const late = { ...options, claim: claim(first, { formerly: [first], applies: 1 }) };
    const lost = `the cluster belongs to another state: ${second}`;
    await expect(destroyCluster(late)).rejects.toThrow(lost);
    world.log.length = 0;
    const wanted = wish({ controlPlanes: ["cp-1"], workers: [], leaving: ["w-1"] });
    await expect(applyCluster({ ...late, desired: wanted })).rejects.toThrow(lost);
    await expect(applyCluster(late)).rejects.toThrow(lost);
    await expect(previewCluster(late)).rejects.toThrow(lost);
    expect(world.log).toEqual([]);
    expect(world.ownership?.owner).toBe(second);
  });

  test("enters workers of another state before it changes anything, so that they may leave after a failure", async () => {
    const { world, options } = await running();
    const stop = new AbortController();
    const wanted = wish({ controlPlanes: ["cp-1"], workers: [], leaving: ["w-1"] });
    const joins = { ...options, claim: create(joining, { joins: true }) };
    const cut = applyCluster({ ...joins, desired: wanted, review: () => stop.abort(), signal: stop.signal });
    await expect(cut).rejects.toMatchObject({ code: "canceled" });
    expect(world.ownership).toMatchObject({ owner: first, joined: [joining], applies: 1 });
    await checkOwner({ ...options, claim: claim(joining, { formerly: [joining] }) });
    const twin = create(name("other", "more-workers"), { joins: true });
    await expect(applyCluster({ ...options, claim: twin })).rejects.toThrow(`another state: ${joining}`);
    expect((await applyCluster(joins)).applies).toBeUndefined();
  });

  test("lets the next one have a cluster that was given up", async () => {
    const { world, options } = await running();
    await releaseOwner({ ...options, claim: claim(first) });
    expect((await applyCluster({ ...options, claim: create(second) })).applies).toBe(2);
    expect(world.ownership?.owner).toBe(second);
  });

  describe("while the Kubernetes API does not answer", () => {
    /** Goes as far as the first change of the cluster, which is an error of its own. */
    async function outcome(wanted: Partial<ApplyOptions>, work: typeof applyCluster | typeof destroyCluster) {
      const { world, options } = await running();
      const warnings: string[] = [];
      const result = await work({
        ...options,
        desired: wish({ controlPlanes: ["cp-1"], workers: [], leaving: ["w-1"] }),
        machines: withSilentKubernetes(world.port()),
        events: ({ type, message }) => type === "warning" && warnings.push(message),
        timeouts: { step: 60_000, health: 60_000, reachable: 60_000 },
        ...wanted,
      }).then(
        () => "done",
        (error: unknown) => TalosError.from(error).message,
      );
      return { result, warnings, changed: world.log.length > 0 };
    }
    const unread = "the cluster is running, and its owner cannot be read: kubernetes: connection refused";
    const noted = (owner: string) => memoryJournal([{ step: `owner/${owner}`, event: "finished" }]);
    const warned = [expect.stringContaining(unread)];

    test.each<[string, Partial<ApplyOptions>, { apply: string | RegExp; destroy: string | RegExp }]>([
      ["a new state", { claim: create(second) }, { apply: unread, destroy: unread }],
      [
        "a new state, in a copy of the project that made it",
        { claim: create(second), journal: noted(first) },
        { apply: unread, destroy: unread },
      ],
      [
        "a new state, where an earlier run of it has begun",
        { claim: create(second), journal: noted(second) },
        { apply: /^(?!the cluster is running)/, destroy: "done" },
      ],
      [
        "a state that has the cluster",
        { claim: claim(first, { formerly: [first] }) },
        { apply: /^(?!the cluster is running)/, destroy: "done" },
      ],
      [
        "no state, where an earlier run has been",
        { claim: create(first, { onlyCheck: true }), journal: noted(first) },
        { apply: /^(?!the cluster is running)/, destroy: "done" },
      ],
    ])("%s", async (_, wanted, expected) => {
      const applied = await outcome(wanted, applyCluster);
      const destroyed = await outcome(wanted, destroyCluster);
      expect(applied.result).toMatch(expected.apply);
      expect(destroyed.result).toMatch(expected.destroy);
      expect(destroyed.changed).toBe(expected.destroy === "done");
      if (expected.apply === unread) expect(applied.changed).toBe(false);
      expect(applied.warnings).not.toEqual(warned);
    });

    test("no state: what heals the cluster is only warned about, its end is refused", async () => {
      const look = { claim: create(second, { onlyCheck: true }) };
      const applied = await outcome(look, applyCluster);
      expect(applied.result).not.toContain(unread);
      expect(applied.warnings).toEqual(expect.arrayContaining(warned));
      const destroyed = await outcome(look, destroyCluster);
      expect(destroyed).toMatchObject({ result: unread, changed: false });
    });

    test("a cluster whose etcd was never started belongs to no state", async () => {
      const { world, timing } = lab(desired);
      const stop = new AbortController();
      const options = { desired, secrets: testSecrets(), policy: defaultPolicy, machines: world.port(), timing };
      const events: ApplyOptions["events"] = ({ type, step }) => {
        if (type === "step-started" && step?.kind === "bootstrap-etcd") stop.abort();
      };
      const cut = applyCluster({ ...options, claim: create(first), events, signal: stop.signal });
      await expect(cut).rejects.toMatchObject({ code: "canceled" });
      // Of another computer, whose journal is its own.
      expect((await applyCluster({ ...options, claim: create(first) })).applies).toBe(1);
    });

    test("it is remembered by a first apply, and by each one that could read it", async () => {
      const { world, timing } = lab(desired);
      const journal = memoryJournal([]);
      const options = {
        desired,
        secrets: testSecrets(),
        policy: defaultPolicy,
        machines: world.port(),
        timing,
        journal,
      };
      await applyCluster({ ...options, claim: create(first, { onlyCheck: true }) });
      await applyCluster({ ...options, claim: create(first, { onlyCheck: true }) });
      const owners = (await journal.entries()).filter(({ step }) => step.startsWith("owner/"));
      expect(owners).toMatchObject([{ step: `owner/${first}`, event: "finished" }]);
    });
  });

  test("does not fail a finished apply whose owner could not be written down", async () => {
    const { world, options } = await running();
    const messages: string[] = [];
    const machines = world.port();
    const kubernetes = {
      ...machines.kubernetes,
      changeOwnership: () => Promise.reject(new TalosError("permission-denied", "configmaps are read-only")),
    };
    const result = await applyCluster({
      ...options,
      machines: { ...machines, kubernetes },
      claim: claim(first),
      events: ({ type, message }) => type === "warning" && messages.push(message),
    });
    expect(result.applies).toBeUndefined();
    expect(messages).toEqual(["its owner could not be recorded in the cluster: configmaps are read-only"]);
  });
});
