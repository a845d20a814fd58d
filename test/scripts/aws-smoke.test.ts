// SPDX-License-Identifier: Apache-2.0
// The script that tries a real AWS account, with stand-ins for talosmith and kubectl: nothing is asked of AWS.
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadEnvironment } from "../../model/index.ts";
import { estimate } from "../../scripts/aws-smoke/estimate.ts";
import { smokeEnvironment } from "../../scripts/aws-smoke/life.ts";

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "talosmith-smoke-"));
  folder = join(root, "run");
  mkdirSync(join(root, "bin"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A program that notes its words down, makes what a deploy makes, and fails or hangs where it is told to. */
const standIn = `#!${process.execPath}
const { appendFileSync, existsSync, mkdirSync, writeFileSync } = require("node:fs");
const { basename } = require("node:path");
const words = process.argv.slice(2).filter((word, index, all) => !word.startsWith("--") && all[index - 1] !== "--kubeconfig");
const line = [basename(process.argv[1]), ...words].join(" ");
appendFileSync(process.env.SMOKE_LOG, line + "\\n");
const upgraded = (word) => require("node:fs").readFileSync(process.env.SMOKE_LOG, "utf8").includes("upgrade " + word);
if (words[0] === "deploy") {
  for (const each of ["state", "generated/smoke"]) mkdirSync(each, { recursive: true });
  for (const each of ["state/smoke.tfstate", "generated/smoke/kubeconfig"]) writeFileSync(each, "");
}
if (words[0] === "plan") console.log("No changes.");
if (words[0] === "status")
  console.log(JSON.stringify({ machines: ["smoke-cp-1", ...(process.env.SMOKE_BURST ? ["i-1"] : [])].map((name) =>
    ({ name, ready: true, talos: upgraded("talos") ? "v1.13.9" : "v1.13.8" })) }));
if (words[0] === "get") console.log(words[1] === "pods" ? "registry/kube-apiserver:v1.36.3" : "kubelet:v1.36.3");
if (process.env.SMOKE_HANG === words[0]) {
  process.on("SIGINT", () => process.exit(130));
  console.log("hangs");
  setInterval(() => {}, 1000);
} else if (line.startsWith(process.env.SMOKE_FAIL ?? "nothing")) process.exit(1);
`;

function program(name: string, code = standIn): string {
  const path = join(root, "bin", name);
  writeFileSync(path, code);
  chmodSync(path, 0o755);
  return path;
}

interface Ran {
  readonly code: number | null;
  readonly said: string;
  /** The stand-ins' calls, in their order. */
  readonly calls: readonly string[];
}

const place = ["--region", "eu-central-1", "--account", "111122223333", "--admin-cidr", "203.0.113.7/32"];

/** `when`: a signal as soon as this was called. */
async function smoke(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  when?: { readonly called: string; readonly signal: NodeJS.Signals },
  kubectl?: string,
): Promise<Ran> {
  const log = join(root, "calls.txt");
  writeFileSync(log, "");
  program("kubectl", kubectl);
  const own = ["--folder", folder, "--command", program("talosmith")];
  const child = spawn(process.execPath, ["--import", "tsx", "scripts/aws-smoke.ts", ...words, ...own], {
    env: { ...process.env, ...env, SMOKE_LOG: log, PATH: `${join(root, "bin")}${delimiter}${process.env.PATH ?? ""}` },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  const calls = () => readFileSync(log, "utf8").split("\n").filter(Boolean);
  const watch = setInterval(() => {
    // The hanging stand-in has said so once it listens to signals.
    const isCalled = when !== undefined && existsSync(join(folder, "log.txt"));
    if (!isCalled || !readFileSync(join(folder, "log.txt"), "utf8").includes(when.called)) return;
    clearInterval(watch);
    child.kill(when.signal);
  }, 20);
  const code = await new Promise<number | null>((done) => child.on("close", done));
  clearInterval(watch);
  return { code, said, calls: calls() };
}

const destroy = "talosmith destroy smoke";
const released = "kubectl delete service/smoke pod/smoke persistentvolumeclaim/smoke";

describe("a run", () => {
  test("sees the whole life, takes it down and leaves a log alone", async () => {
    const { code, said, calls } = await smoke([...place, "--burst"], { SMOKE_BURST: "1" });
    expect(said).toMatch(/^about [\d.]+ USD at most for 3 hours/);
    expect({ code, said }).toMatchObject({ code: 0 });
    expect(calls.filter((call) => /^talosmith (?!status)/.test(call))).toEqual([
      "talosmith deploy smoke",
      "talosmith plan smoke",
      "talosmith health smoke 10m",
      "talosmith upgrade talos smoke v1.13.9",
      "talosmith upgrade k8s smoke 1.36.3",
      "talosmith scale smoke w 2",
      "talosmith backup create smoke",
      "talosmith backup verify smoke",
      "talosmith plan smoke",
      destroy,
    ]);
    // Before the upgrade, and once more before the end.
    expect(calls.filter((call) => call === released)).toHaveLength(2);
    expect(existsSync(folder)).toBe(false);
    expect(readFileSync(`${folder}.log`, "utf8")).toContain("deploy smoke --yes");
  });

  test.each([
    ["a step that fails", "talosmith health", ["talosmith health smoke 10m", released, destroy]],
    ["a deploy that fails half way", "talosmith deploy", ["talosmith deploy smoke", released, destroy]],
  ])("takes everything down after %s", async (_, fails, last) => {
    const { code, calls, said } = await smoke(place, { SMOKE_FAIL: fails });
    expect(code).toBe(1);
    expect(calls.slice(-last.length)).toEqual(last);
    expect(said).toContain("nothing is left");
  });

  test("takes everything down when kubectl ends without reading what it is given", async () => {
    const { code, said, calls } = await smoke(place, {}, undefined, "#!/bin/sh\nexit 1\n");
    expect(said).toContain("kubectl apply: exit code 1");
    expect(code).toBe(1);
    expect(calls.at(-1)).toBe(destroy);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("takes everything down after %s", async (signal) => {
    const { code, calls, said } = await smoke(place, { SMOKE_HANG: "deploy" }, { called: "hangs", signal });
    expect(code).toBe(1);
    expect(said).toContain("1 of 9, deploy: stopped");
    expect(calls).toEqual(["talosmith deploy smoke", released, destroy]);
  });

  test("takes everything down when its time is over", async () => {
    const { code, calls, said } = await smoke([...place, "--max-hours", "0.0003"], { SMOKE_HANG: "deploy" });
    expect(code).toBe(1);
    expect(said).toContain("--max-hours 0.0003 are over: stopping");
    expect(said).toContain("nothing is left");
    // However far it came by then.
    expect([undefined, destroy]).toContain(calls.at(-1));
  });

  test("says that something is left, refuses to begin again, and takes it down by --teardown", async () => {
    const first = await smoke(place, { SMOKE_FAIL: destroy });
    expect(first.code).toBe(1);
    expect(first.calls.filter((call) => call === destroy)).toHaveLength(3);
    expect(first.said).toContain("NOT everything may be destroyed, and it costs money");
    const again = await smoke(place);
    expect(again).toMatchObject({ code: 2, calls: [], said: expect.stringContaining("--teardown") });
    const end = await smoke(["--teardown"]);
    expect(end).toMatchObject({ code: 0, calls: [released, destroy] });
    expect(await smoke(["--teardown"])).toMatchObject({ code: 2, calls: [] });
  });

  test.each([
    ["a cost above the cap", [...place, "--max-cost", "0.01"], /^about [\d.]+ USD for 3 hours, above --max-cost 0\.01/],
    ["no account", place.slice(0, 2), /expected --region, --account and --admin-cidr/],
    ["no number", [...place, "--max-hours", "long"], /--max-hours: found long, expected a number above 0/],
  ])("is refused with %s, before anything is made", async (_, words, message) => {
    const ran = await smoke(words);
    expect(ran).toMatchObject({ code: 2, calls: [], said: expect.stringMatching(message) });
    expect(existsSync(folder)).toBe(false);
  });
});

test.each([true, false])("its environment is one that talosmith takes (burst %s)", (burst) => {
  const text = JSON.stringify(
    smokeEnvironment({ region: "eu-central-1", account: "111122223333", adminCidr: "203.0.113.7/32", burst }),
  );
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "environments/smoke.yaml"), text);
  expect(loadEnvironment(root, "smoke")).toMatchObject({ kind: "aws", name: "smoke" });
});

test("the estimate grows with time and with what is made", () => {
  expect(estimate({ burst: false, hours: 3 })).toBeLessThan(estimate({ burst: true, hours: 3 }));
  expect(estimate({ burst: false, hours: 3 })).toBeLessThan(estimate({ burst: false, hours: 6 }));
  expect(estimate({ burst: false, hours: 3 })).toBeGreaterThan(0.5);
});
