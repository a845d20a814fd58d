// SPDX-License-Identifier: Apache-2.0
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createProgram, runProgram } from "../../../cli/program.ts";
import { registrations } from "../../../cli/registrations.ts";
import { systemClock } from "../../../talos/clock.ts";
import { testContext } from "../../support/command-context.ts";
import { zipEntries } from "../../support/zip-entries.ts";

const root = mkdtempSync(join(tmpdir(), "talosmith-support-"));

async function talosmith(...args: string[]) {
  const context = testContext({ cwd: root, clock: systemClock, env: { PATH: "" } });
  await runProgram(createProgram(context, registrations), args, context);
  return context.written;
}

/** Every text of the secrets file that is not public. */
function secretTexts(value: unknown, key = ""): string[] {
  if (typeof value === "string") return key === "crt" || key === "id" ? [] : [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => secretTexts(inner, name));
}

describe("the support bundle of a simulated cluster", () => {
  beforeAll(async () => {
    mkdirSync(join(root, "environments"));
    writeFileSync(join(root, "cdktf.json"), "{}");
    writeFileSync(
      join(root, "environments/broken.yaml"),
      "infrastructure: { kind: simulatedd }\ntoken: CaNaRy-broken\n",
    );
    writeFileSync(
      join(root, "environments/tiny.yaml"),
      [
        "infrastructure: { kind: simulated }",
        "controlPlane: { count: 1 }",
        "cluster:",
        "  patches:",
        "    all:",
        "      - machine:",
        "          files:",
        "            - { path: /var/etc/x, op: create, permissions: 0o600, content: CaNaRy-file }",
        "",
      ].join("\n"),
    );
    expect(await talosmith("up", "tiny")).toMatchObject({ exitCode: 0 });
  });

  afterAll(async () => {
    await talosmith("sim", "down", "--all");
    rmSync(root, { recursive: true, force: true });
  });

  test("has states, configs and logs, and not one secret", async () => {
    const secrets = secretTexts(parse(readFileSync(join(root, "secrets/tiny.yaml"), "utf8")));
    const { token } = parse(readFileSync(join(root, "secrets/tiny.yaml"), "utf8")).trustdinfo;
    appendFileSync(join(root, "generated/tiny/journal.jsonl"), `{"said":"${token}"}\n`);
    const { stdout, exitCode } = await talosmith("support", "tiny");
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`${join(root, "support-tiny.zip")}\n`);
    expect(statSync(join(root, "support-tiny.zip")).mode & 0o777).toBe(0o600);
    const files = zipEntries(readFileSync(join(root, "support-tiny.zip")));
    const names = [...files.keys()].map((name) => name.replace("support-tiny/", ""));
    for (const name of [
      "versions.json",
      "doctor.json",
      "status.json",
      "health.json",
      "journal.jsonl",
      "topology.mmd",
      "simulator.log",
      "environments/tiny.yaml",
      "machines/tiny-cp-1/state.json",
      "machines/tiny-cp-1/config.yaml",
      "machines/tiny-cp-1/events.txt",
      "machines/tiny-cp-1/logs/etcd.log",
    ])
      expect(names).toContain(name);
    expect(files.get("support-tiny/missing.txt")?.toString()).toBe("nothing\n");
    expect(files.get("support-tiny/journal.jsonl")?.toString()).toContain('{"said":"******"}');
    expect(secrets.length).toBeGreaterThan(8);
    const clientKeys = ["talosconfig", "kubeconfig"].flatMap((file) =>
      [...readFileSync(join(root, "generated/tiny", file), "utf8").matchAll(/key(?:-data)?: (\S+)/g)].map(
        ([, key]) => key ?? "",
      ),
    );
    for (const [name, content] of files)
      for (const secret of [...secrets, ...clientKeys, "CaNaRy-file"])
        expect(content.includes(secret), `${name} has a secret`).toBe(false);
  });

  test("without a terminal, the dashboard prints once what it sees", async () => {
    const { stdout, exitCode } = await talosmith("dashboard", "tiny");
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^tiny: (healthy|unhealthy) {3}simulated/);
    expect(stdout).toMatch(/tiny-cp-1 +controlplane +127\.[\d.]+ +ready +running +v1\.13\.9/);
    expect(stdout).toContain("etcd: 1 of 1 healthy");
  });

  test("the doctor looks at client files, ports, certificates and clocks of a cluster that runs", async () => {
    const examine = async () => {
      const { findings } = JSON.parse((await talosmith("doctor", "tiny", "--json")).stdout) as {
        findings: readonly { readonly about: string; readonly level: string; readonly says: string }[];
      };
      return (about: string) => findings.find((finding) => finding.about === `tiny: ${about}`);
    };
    const healthy = await examine();
    expect(healthy("kubeconfig")).toMatchObject({ level: "ok", says: "valid for 364d" });
    expect(healthy("endpoint")).toMatchObject({ level: "ok", says: expect.stringContaining("the port is open") });
    expect(healthy("tiny-cp-1")).toMatchObject({ level: "ok" });
    await talosmith("sim", "fault", "tiny-cp-1", '{"kind":"clock-skew","milliseconds":7200000}');
    expect((await examine())("tiny-cp-1")).toMatchObject({ level: "fault", says: expect.stringMatching(/clock/) });
    await talosmith("sim", "fault", "tiny-cp-1");
    await talosmith("sim", "power", "tiny-cp-1", "off");
    const away = await examine();
    expect(away("tiny-cp-1")?.level).toBe("fault");
    expect(away("endpoint")?.level).toBe("fault");
    await talosmith("sim", "power", "tiny-cp-1", "on");
  });

  test("does not replace a file unless told to", async () => {
    writeFileSync(join(root, "there.zip"), "mine");
    const { stderr, exitCode } = await talosmith("support", "tiny", "--output", "there.zip");
    expect(stderr).toContain("is there already");
    expect(exitCode).toBe(1);
    expect(readFileSync(join(root, "there.zip"), "utf8")).toBe("mine");
  });

  test("of an environment with faults tells what there is, and the faults", async () => {
    const { exitCode, stderr } = await talosmith("support", "broken");
    expect(exitCode).toBe(0);
    expect(stderr).toContain("simulatedd");
    const files = zipEntries(readFileSync(join(root, "support-broken.zip")));
    expect(files.get("support-broken/missing.txt")?.toString()).toContain("machines: ");
    expect(files.get("support-broken/environments/broken.yaml")?.toString()).not.toContain("CaNaRy-broken");
  });
});
