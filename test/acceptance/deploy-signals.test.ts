// SPDX-License-Identifier: Apache-2.0
// A deploy through terraform or tofu that is stopped or killed, whoever is hit: it says so in its exit code, leaves no
// process behind and a whole state, and the next deploy completes the cluster.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makeProject, processesOf, type Running, removeProject, talosmith } from "../hostile/project.ts";
import { everything } from "../support/everything.ts";
import { cleanEnvironment, findTools } from "../support/terraform.ts";

const tools = findTools();
test.skipIf(tools.length === 0)("terraform or tofu is there", () => expect(tools).not.toEqual([]));

type Whom = "talosmith" | "terraform" | "provider";
interface Row {
  readonly signals: readonly NodeJS.Signals[];
  readonly whom: Whom;
  /** What was said when it happens. */
  readonly when: RegExp;
  readonly code: number | null;
  readonly words: RegExp;
}

const again = /\nStopped\. To go on from here: \S.* deploy local --yes\n$/;
const planning = /^local is (?:new|managed)/;
const making = /✓ create machine local-cp-1/;
const configured = /✓ apply initial config to local-cp-1/;
const rows: readonly Row[] = [
  { signals: ["SIGTERM"], whom: "talosmith", when: configured, code: 143, words: again },
  {
    signals: ["SIGINT", "SIGINT"],
    whom: "talosmith",
    when: making,
    code: 130,
    // A run that has come to a safe point before the second one has nothing left to stop.
    words: /Stopped(?: at once)?\. To go on from here: \S.* deploy local --yes\n$/,
  },
  { signals: ["SIGKILL"], whom: "terraform", when: making, code: 1, words: /apply was killed by SIGKILL\n {2}Run the/ },
  { signals: ["SIGTERM"], whom: "talosmith", when: making, code: 143, words: again },
  { signals: ["SIGTERM"], whom: "talosmith", when: planning, code: 143, words: again },
  { signals: ["SIGINT"], whom: "talosmith", when: making, code: 130, words: again },
  { signals: ["SIGHUP"], whom: "talosmith", when: making, code: 129, words: again },
  { signals: ["SIGKILL"], whom: "talosmith", when: making, code: null, words: /./ },
  { signals: ["SIGTERM"], whom: "terraform", when: making, code: 1, words: /apply ended with exit code 1/ },
  {
    signals: ["SIGKILL"],
    whom: "provider",
    when: making,
    code: 1,
    words: /A provider was killed, or has crashed\. Run/,
  },
];

/** The process to hit: talosmith has started terraform, and terraform the provider. */
function find(whom: Whom, talosmithPid: number, all: readonly Running[]): number | undefined {
  if (whom === "talosmith") return talosmithPid;
  const terraform = all.find(({ parent }) => parent === talosmithPid)?.pid;
  return whom === "terraform" ? terraform : all.find(({ parent }) => parent === terraform)?.pid;
}

function send(signal: NodeJS.Signals, pid: number): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // The first one was enough.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

describe.each(everything ? tools : tools.slice(0, 1))("a deploy through $name", { timeout: 300_000 }, (tool) => {
  const root = makeProject();
  const env = { ...cleanEnvironment(), TERRAFORM_BINARY_NAME: tool.path, HOME: root };
  const run = (line: string, onSaid?: Parameters<typeof talosmith>[1]["onSaid"]) =>
    talosmith(line.split(" "), { cwd: root, env, ...(onSaid === undefined ? {} : { onSaid }) });
  afterAll(async () => {
    await run("destroy local --yes");
    removeProject(root);
  });

  test.each(everything ? rows : rows.slice(0, 3))("$signals of $whom, when it says $when", async (row) => {
    let hit = false;
    const { code, stderr } = await run("deploy local --yes", (said, { pid }) => {
      if (hit || !row.when.test(said)) return;
      const target = find(row.whom, pid, processesOf(root));
      if (target === undefined) return;
      hit = true;
      for (const [i, signal] of row.signals.entries()) setTimeout(() => send(signal, target), i * 20);
    });
    expect({ hit, code, stderr }).toEqual({ hit: true, code: row.code, stderr: expect.stringMatching(row.words) });
    // Once, and in no words of terraform's beside ours.
    if (row.words === again) expect(stderr.match(/Stopped\b|execution halted/g)).toEqual(["Stopped"]);
    // A provider looks for its terraform every second.
    await expect.poll(() => processesOf(root), { timeout: 15_000 }).toEqual([]);
    const state = join(root, "state/local.tfstate");
    if (existsSync(state)) expect(JSON.parse(readFileSync(state, "utf8"))).toMatchObject({ version: 4 });
    const rerun = await run("deploy local --yes");
    expect(rerun).toMatchObject({ code: 0 });
    // All machines are there, so what is left to do is known.
    if (row.when === configured) expect(rerun.stderr).not.toContain("computed during the apply");
    expect(await run("plan local")).toMatchObject({ code: 0 });
    expect(await run("destroy local --yes")).toMatchObject({ code: 0 });
  });

  test("whose messages nobody reads any more goes on to its end", async () => {
    const script = `{ "$@"; echo "code $?" >&3; } 3>code 2>&1 >/dev/null | head -n 1`;
    await talosmith(["deploy", "local", "--yes"], { cwd: root, env, script });
    expect(readFileSync(join(root, "code"), "utf8")).toBe("code 0\n");
    expect(await run("plan local")).toMatchObject({ code: 0 });
  });

  test("that has nothing to change says that the cluster is up only when it is healthy", async () => {
    const { code } = await run("deploy local --yes");
    expect(code).toBe(0);
    const fault = JSON.stringify({ kind: "component-not-ready", component: "kube-scheduler" });
    await run(`sim fault local-cp-1 ${fault}`);
    const plan = await run("plan local");
    expect(plan).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Not healthy: .*kube-scheduler/m) });
    let waited = false;
    const deployed = await run("deploy local --yes", (said) => {
      if (waited || !/waiting for .*kube-scheduler/.test(said)) return;
      waited = true;
      void run("sim fault local-cp-1 none");
    });
    expect(waited).toBe(true);
    expect(deployed).toMatchObject({ code: 0, stdout: expect.stringContaining("local is up") });
  });
});
