// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type Addon,
  addonHash,
  addonState,
  applyAddon,
  applyAddons,
  findHelm,
  releasesOf,
  removeAddon,
  resolveAddon,
  rollbackAddon,
  surplusAddons,
} from "../../../engine/addon/index.ts";

const standIn = resolve("test/support/stand-in-helm.mjs");
const secret = "correct-horse-battery";

let folder: string;
let env: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "talosmith-addon-"));
  env = { PATH: process.env.PATH ?? "", TALOSMITH_HELM: standIn, STAND_IN_HELM: join(folder, "releases.json") };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const access = () => ({ helm: findHelm(env), kubeconfig: join(folder, "kubeconfig") });
const calls = (): { argv: string[]; files: Record<string, string[]> }[] =>
  readFileSync(`${env.STAND_IN_HELM}.calls`, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const called = (command: string) => calls().filter(({ argv }) => argv[0] === command);

const cilium: Addon = {
  name: "cilium",
  namespace: "kube-system",
  chart: "cilium",
  repository: "https://helm.cilium.io",
  version: "1.19.4",
  values: ["ipam:\n  mode: kubernetes\n", `password: ${secret}\n`],
};

describe("an add-on", () => {
  test("is installed, then left alone, then upgraded when its values change", async () => {
    expect(await addonState(cilium, access())).toMatchObject({ state: "to install" });
    expect(await applyAddon(cilium, access())).toMatchObject({
      changed: true,
      release: { revision: 1, status: "deployed" },
    });
    expect(await applyAddon(cilium, access())).toMatchObject({ changed: false, release: { revision: 1 } });
    const other = { ...cilium, values: ["ipam:\n  mode: cluster-pool\n"] };
    expect(await addonState(other, access())).toMatchObject({ state: "to change" });
    expect(await applyAddon(other, access())).toMatchObject({ changed: true, release: { revision: 2 } });
  });

  test("is called as helm wants it: atomic, in its namespace, with its own list of repositories", async () => {
    await applyAddon(cilium, access());
    const [upgrade] = called("upgrade");
    expect(upgrade?.argv.slice(0, 3)).toEqual(["upgrade", "cilium", "addon/cilium"]);
    for (const flag of ["--install", "--atomic", "--create-namespace", "--reset-values"])
      expect(upgrade?.argv).toContain(flag);
    expect(upgrade?.argv.join(" ")).toContain("--version 1.19.4");
    expect(upgrade?.argv.join(" ")).toContain("--timeout 600s");
    expect(upgrade?.files["--values"]).toEqual(cilium.values);
    expect(called("repo")[0]?.files["--repository-config"]?.[0]).toContain("url: https://helm.cilium.io");
  });

  test.each<[string, Addon, string]>([
    ["a repository", { ...cilium, credentials: { username: "robot", password: secret } }, "--repository-config"],
    [
      "a registry",
      {
        ...cilium,
        chart: "oci://registry.example.com/charts/app",
        repository: undefined,
        credentials: { username: "robot", password: secret },
      },
      "--registry-config",
    ],
  ])("gives its password to %s through a file, and no secret is ever an argument", async (_name, addon, flag) => {
    await applyAddon(addon, access());
    const written = calls().flatMap(({ files }) => files[flag] ?? []);
    const auth = Buffer.from(`robot:${secret}`).toString("base64");
    expect(written.some((text) => text.includes(secret) || text.includes(auth))).toBe(true);
    expect(JSON.stringify(calls().map(({ argv }) => argv))).not.toMatch(new RegExp(`${secret}|${auth}`));
  });

  test("that fails tells helm's words without the secrets", async () => {
    env.STAND_IN_HELM_TROUBLE = "repo";
    const addon = { ...cilium, credentials: { username: "robot", password: secret } };
    const error = await applyAddon(addon, access()).catch((caught) => caught);
    expect(error.message).toContain("helm repo: looks like the repository cannot be reached");
    expect(error.message).not.toContain(secret);
  });

  test("that does not become ready is an error, and the ones after it are not touched", async () => {
    env.STAND_IN_HELM_TROUBLE = "cilium";
    const after = { ...cilium, name: "metrics-server" };
    await expect(applyAddons([cilium, after], access())).rejects.toMatchObject({
      message: expect.stringContaining("has been rolled back"),
    });
    expect(called("upgrade")).toHaveLength(1);
  });

  test.each([
    ["in its first install, is taken away and installed anew", 0, "uninstall"],
    ["in an upgrade, goes back to the last good revision first", 1, "rollback"],
  ])("that a killed helm left pending %s", async (_name, good, mended) => {
    for (let i = 0; i < good; i++) await applyAddon(cilium, access());
    const releases = JSON.parse(good === 0 ? "{}" : readFileSync(env.STAND_IN_HELM ?? "", "utf8"));
    const pending = { ...cilium, revision: good + 1, status: "pending-upgrade", chart: "cilium-1", labels: {} };
    releases["kube-system/cilium"] = [...(releases["kube-system/cilium"] ?? []), pending];
    writeFileSync(env.STAND_IN_HELM ?? "", JSON.stringify(releases));
    expect(await addonState(cilium, access())).toMatchObject({ state: "to repair" });
    expect(await applyAddon(cilium, access())).toMatchObject({ changed: true, release: { status: "deployed" } });
    expect(called(mended)).toHaveLength(1);
  });

  test("goes back to an earlier revision, keeps its history, and can be removed", async () => {
    await applyAddon(cilium, access());
    await applyAddon({ ...cilium, version: "1.20.0" }, access());
    expect(await rollbackAddon(cilium, 1, access())).toMatchObject({ revision: 3, chart: "addon/cilium-1.19.4" });
    expect((await releasesOf(access()).history(cilium)).map(({ revision }) => revision)).toEqual([1, 2, 3]);
    expect(await surplusAddons([], access())).toMatchObject([{ name: "cilium" }]);
    expect(await surplusAddons([cilium], access())).toEqual([]);
    await removeAddon(cilium, access());
    expect(await addonState(cilium, access())).toMatchObject({ state: "to install" });
  });
});

describe("without helm", () => {
  test("it is said how to get it", () => {
    expect(() => findHelm({ PATH: folder })).toThrow("add-ons need helm, which is not on the PATH");
  });
});

describe("what an add-on names", () => {
  const sources = { ...cilium, values: ["a: 1\n"], valuesFiles: ["more.yaml"], credentials: undefined };

  test("is read: values from files, a password, a chart by its path", async () => {
    writeFileSync(join(folder, "more.yaml"), "b: 2\n");
    writeFileSync(join(folder, "password"), `${secret}\n`);
    mkdirSync(join(folder, "charts/app"), { recursive: true });
    writeFileSync(join(folder, "charts/app/Chart.yaml"), "name: app\n");
    const credentials = { username: "robot", passwordFile: "password" };
    const addon = await resolveAddon({ ...sources, chart: "./charts/app", credentials }, folder, {});
    expect(addon).toMatchObject({
      chart: join(folder, "charts/app"),
      values: ["a: 1\n", "b: 2\n"],
      credentials: { username: "robot", password: secret },
    });
    writeFileSync(join(folder, "charts/app/Chart.yaml"), "name: app\nversion: 2\n");
    const changed = await resolveAddon({ ...sources, chart: "./charts/app", credentials }, folder, {});
    expect(addonHash(changed)).not.toBe(addonHash(addon));
  });

  test.each([
    ["a file of values that is not there", sources, "more.yaml cannot be read"],
    [
      "a password that is not set",
      { ...sources, valuesFiles: [], credentials: { username: "robot", passwordEnv: "NO_SUCH" } },
      "the environment variable NO_SUCH is not set",
    ],
  ])("is missed: %s", async (_name, addon, words) => {
    await expect(resolveAddon(addon, folder, {})).rejects.toThrow(words);
  });
});
