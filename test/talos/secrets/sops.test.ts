// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encodeSecrets, secretsStore } from "../../../talos/secrets/index.ts";
import { findProgram } from "../../support/programs.ts";
import { secrets } from "../config/golden-secrets.ts";

const program = findProgram("sops");

/** Needs sops on the PATH, or TALOSMITH_TEST_SOPS. */
describe.skipIf(program === undefined)("the real sops", () => {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-sops-"));
  const path = join(folder, "secrets.yaml");
  const store = secretsStore({ kind: "sops", path, program: program ?? "sops" });
  const names = ["SOPS_AGE_KEY", "SOPS_AGE_RECIPIENTS"] as const;
  const before = names.map((name) => [name, process.env[name]] as const);

  beforeAll(async () => {
    const identity = await generateIdentity();
    process.env.SOPS_AGE_KEY = identity;
    process.env.SOPS_AGE_RECIPIENTS = await identityToRecipient(identity);
  });
  afterAll(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(folder, { recursive: true });
  });

  test("takes a bundle and gives it back; the file is private and tells nothing", async () => {
    await store.create(secrets);
    const sealed = readFileSync(path, "utf8");
    expect(sealed).toContain("sops:");
    expect(sealed).not.toContain(secrets.cluster.secret);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(encodeSecrets(await store.read())).toBe(encodeSecrets(secrets));
    await expect(store.create(secrets)).rejects.toThrow(expect.objectContaining({ code: "already-exists" }));
  });

  test("opens the file for nobody else, and not after it was changed", async () => {
    const own = process.env.SOPS_AGE_KEY;
    process.env.SOPS_AGE_KEY = await generateIdentity();
    await expect(store.read()).rejects.toThrow(/sops failed: .+/);
    process.env.SOPS_AGE_KEY = own;
    writeFileSync(path, readFileSync(path, "utf8").replace(/data:..../, "data:AAAA"));
    await expect(store.read()).rejects.toThrow(/sops failed: .+/);
  });

  test("without a rule for the file says so, and nothing is written", async () => {
    const elsewhere = join(mkdtempSync(join(tmpdir(), "talosmith-no-rules-")), "secrets.yaml");
    delete process.env.SOPS_AGE_RECIPIENTS;
    const lost = secretsStore({ kind: "sops", path: elsewhere, program: program ?? "sops" });
    await expect(lost.create(secrets)).rejects.toThrow("config file not found");
    expect(() => statSync(elsewhere)).toThrow("ENOENT");
  });
});

test("a sops that is not installed is told, for reading and for writing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "talosmith-sops-"));
  const path = join(folder, "secrets.yaml");
  const store = secretsStore({ kind: "sops", path, program: "no-such-sops" });
  await expect(store.create(secrets)).rejects.toThrow("the program no-such-sops was not found");
  writeFileSync(path, "sops: {}\n");
  await expect(store.read()).rejects.toThrow("the program no-such-sops was not found");
  rmSync(folder, { recursive: true });
});
