// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { type BackupStore, findBackup, listBackups, pruneBackups, verifyBackup } from "../../../engine/backup/index.ts";
import { TalosError } from "../../../talos/errors.ts";
import { realSnapshot, sourceOf } from "../../support/etcd-snapshot.ts";
import { take } from "./take.ts";

/** What every store of backups must do; `open` gives an empty one. */
export function storeRules(open: () => Promise<BackupStore>): void {
  test("a backup is whole, found as the newest, and can be read back", async () => {
    const store = await open();
    await expect(findBackup(store, "lab", "latest")).rejects.toMatchObject({ code: "not-found" });
    const first = await take(store, undefined, { sealedSecrets: "sealed" });
    const second = await take(store);
    expect(first).toMatchObject({ bytes: realSnapshot.length, revision: 33, hash: "041534cc", pki: true });
    expect(await listBackups(store, "lab")).toEqual([first, second]);
    expect(await findBackup(store, "lab", "latest")).toEqual(second);
    expect(await findBackup(store, "lab", first.id)).toEqual(first);
    const sealed: Uint8Array[] = [];
    for await (const piece of store.read(`${first.id}.secrets.age`)) sealed.push(piece);
    expect(Buffer.concat(sealed).toString()).toBe("sealed");
    await verifyBackup(store, first);
    expect(await listBackups(store, "la")).toEqual([]);
  });

  test("pruning leaves what the rules keep and takes every file of the others", async () => {
    const store = await open();
    const all = [await take(store, undefined, { sealedSecrets: "sealed" }), await take(store), await take(store)];
    const now = all[2]?.takenAt ?? new Date();
    expect(await pruneBackups(store, "lab", { count: 1 }, now, { dryRun: true })).toEqual(all.slice(0, 2));
    expect(await listBackups(store, "lab")).toHaveLength(3);
    expect(await pruneBackups(store, "lab", { count: 1 }, now)).toEqual(all.slice(0, 2));
    expect((await store.list()).map(({ name }) => name)).toEqual([`${all[2]?.id}.db`, `${all[2]?.id}.json`]);
  });

  test("a backup that another run prunes meanwhile is left out", async () => {
    const store = await open();
    const [gone, kept] = [await take(store), await take(store)];
    const list = async () => {
      const files = await store.list();
      await store.remove(`${gone.id}.json`);
      return files;
    };
    expect(await listBackups({ ...store, list }, "lab")).toEqual([kept]);
    expect(await findBackup(store, "lab", "latest")).toEqual(kept);
  });

  test("a snapshot that breaks off is taken again; one that always does leaves nothing", async () => {
    const store = await open();
    let failures = 2;
    const shaky = sourceOf(realSnapshot, (offset) => {
      if (offset > 100_000 && failures-- > 0) throw new TalosError("unavailable", "connection lost");
    });
    const told: string[] = [];
    await take(store, shaky, { onRetry: (reason: string) => told.push(reason) });
    expect(told).toEqual(["connection lost", "connection lost"]);
    const broken = sourceOf(realSnapshot, (offset) => {
      if (offset > 100_000) throw new TalosError("unavailable", "connection lost");
    });
    const before = await store.list();
    await expect(take(store, broken)).rejects.toMatchObject({ message: "connection lost" });
    expect(await store.list()).toEqual(before);
  });

  test("a snapshot that is not whole, or no database, never gets into the store", async () => {
    const store = await open();
    await expect(take(store, sourceOf(realSnapshot.subarray(0, -512)))).rejects.toMatchObject({
      code: "failed-precondition",
    });
    expect(await store.list()).toEqual([]);
  });

  test("a snapshot that was changed in the store is found out", async () => {
    const store = await open();
    const backup = await take(store);
    const spoilt = await store.scratch();
    const bytes = Buffer.from(realSnapshot);
    bytes[300_000] = (bytes[300_000] ?? 0) ^ 1;
    await spoilt.receive(
      (async function* () {
        yield bytes;
      })(),
      () => {},
    );
    await store.remove(`${backup.id}.db`);
    await store.add(`${backup.id}.db`, spoilt);
    await spoilt.discard();
    await expect(verifyBackup(store, backup)).rejects.toMatchObject({ code: "failed-precondition" });
  });

  test("what a killed run left is no backup, and a later prune takes it away", async () => {
    const store = await open();
    const whole = await take(store);
    await store.addText("lab-20250101T000000Z-0000.db", "half");
    expect(await listBackups(store, "lab")).toEqual([whole]);
    await pruneBackups(store, "lab", {}, new Date("2026-02-01T00:00:00Z"));
    expect((await store.list()).map(({ name }) => name)).toEqual([`${whole.id}.db`, `${whole.id}.json`]);
  });
}
