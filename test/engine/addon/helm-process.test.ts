// SPDX-License-Identifier: Apache-2.0
// Helm is a process of its own: it must not work on when its talosmith has ended.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Addon, applyAddon, findHelm, removeAddon } from "../../../engine/addon/index.ts";
import { compiled } from "../../../scripts/bench/compiled.ts";
import { processesOf } from "../../hostile/project.ts";

const addon: Addon = { name: "app", namespace: "apps", chart: "./app", values: ["a: 1\n"] };
const changed: Addon = { ...addon, values: ["a: 2\n"] };

describe("helm, when its talosmith ends", { timeout: 60_000 }, () => {
  let program: string;
  let compiledTo: string;
  let folder: string;
  let children: ChildProcess[];
  beforeAll(async () => {
    compiledTo = mkdtempSync(join(tmpdir(), "talosmith-addon-process-"));
    program = await compiled(resolve("test/engine/addon/addon-process.ts"), compiledTo);
  });
  afterAll(() => rmSync(compiledTo, { recursive: true, force: true }));
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "talosmith-addon-"));
    vi.stubEnv("TMPDIR", folder);
    children = [];
  });
  afterEach(async () => {
    for (const child of children) child.kill("SIGKILL");
    for (const { pid } of helms()) process.kill(pid, "SIGKILL");
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  const kubeconfig = () => join(folder, "kubeconfig");
  const env = (slow = 0) => ({
    PATH: process.env.PATH ?? "",
    TMPDIR: folder,
    TALOSMITH_HELM: resolve("test/support/stand-in-helm.mjs"),
    STAND_IN_HELM: join(folder, "releases.json"),
    STAND_IN_HELM_SLOW: String(slow),
  });
  const access = (slow?: number) => ({ helm: findHelm(env(slow)), kubeconfig: kubeconfig() });
  const statuses = (): string[] => {
    const file = join(folder, "releases.json");
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    const history = text === "" ? [] : (JSON.parse(text)["apps/app"] ?? []);
    return history.map(({ status }: { status: string }) => status);
  };
  const helms = () => processesOf(folder).filter(({ line }) => line.includes("stand-in-helm"));
  const pending = () => expect.poll(() => statuses().at(-1), { timeout: 20_000 }).toMatch(/^pending-/);
  const left = () => readdirSync(folder).filter((name) => name.startsWith("talosmith-"));

  function begin(wished: Addon, slow: number): ChildProcess {
    const child = spawn(process.execPath, [program, kubeconfig(), JSON.stringify(wished)], { env: env(slow) });
    children.push(child);
    return child;
  }

  test("is waited for after a stop: its release is not left to it", async () => {
    await applyAddon(addon, access());
    const stop = new AbortController();
    const applied = applyAddon(changed, { ...access(20_000), signal: stop.signal });
    applied.catch(() => {});
    await pending();
    stop.abort();
    await expect(applied).rejects.toMatchObject({ code: "canceled" });
    expect(statuses().at(-1)).toBe("deployed");
    expect([helms(), left()]).toEqual([[], []]);
    expect(await applyAddon(changed, access())).toMatchObject({ changed: true, release: { status: "deployed" } });
  });

  test.each([
    ["a first install", false],
    ["an upgrade", true],
  ])(
    "that outlives a killed one in %s is ended by the next run, before it repairs the release",
    async (_what, there) => {
      if (there) await applyAddon(addon, access());
      const first = begin(changed, 20_000);
      await pending();
      first.kill("SIGKILL");
      await once(first, "close");
      expect(helms()).toHaveLength(1);
      expect(await applyAddon(changed, access())).toMatchObject({ changed: true, release: { status: "deployed" } });
      expect([helms(), left()]).toEqual([[], []]);
      expect(statuses().filter((status) => status === "deployed")).toHaveLength(1);
      await removeAddon(addon, access());
      expect([statuses(), left()]).toEqual([[], []]);
    },
  );

  test("of another one that still works is not disturbed", async () => {
    const first = begin(addon, 3_000);
    await pending();
    for (const work of [applyAddon, removeAddon])
      await expect(work(addon, access())).rejects.toMatchObject({
        code: "conflict",
        message: expect.stringContaining(`${first.pid}`),
      });
    expect(await once(first, "close")).toEqual([0, null]);
    expect(statuses()).toEqual(["deployed"]);
    expect(await applyAddon(addon, access())).toMatchObject({ changed: false });
  });
});
