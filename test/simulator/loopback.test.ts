// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { loopbackFindings } from "../../cli/actions/doctor.ts";
import { missingAddresses, type Probe } from "../../simulator/control/index.ts";
import { findNetwork } from "../../simulator/index.ts";
import { requireLoopback } from "../../workspace/simulated-machines.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { testContext } from "../support/command-context.ts";

/** A Mac: it has 127.0.0.1 and what was added to it. */
const mac =
  (...added: readonly string[]): Probe =>
  async (host) =>
    host === "127.0.0.1" || added.includes(host) ? "free" : "unavailable";

const root = mkdtempSync(join(tmpdir(), "talosmith-loopback-"));
afterAll(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, "environments"));
writeFileSync(join(root, "cdktf.json"), "{}");
writeFileSync(
  join(root, "environments/local.yaml"),
  "infrastructure: { kind: simulated }\ncontrolPlane: { count: 1 }\nworkers: [{ count: 1 }]\n",
);
const directory = join(root, "generated/.simulator");
const ports = [50_000, 6_443];

describe("on a system that has only 127.0.0.1", () => {
  test("a command that makes machines says what to run for all addresses of the environment", async () => {
    const workspace = openWorkspace("local", testContext({ cwd: root }));
    const addresses = await missingAddresses(directory, 2, mac());
    expect(addresses).toEqual([expect.stringMatching(/^127\.\d+\.\d+\.2$/), expect.stringMatching(/\.3$/)]);
    await expect(requireLoopback(workspace, mac())).rejects.toMatchObject({
      message: `this system has no loopback address ${addresses.join(", ")}`,
      hint: expect.stringContaining(addresses.map((one) => `  sudo ifconfig lo0 alias ${one} up`).join(" &&\n")),
    });
    const [finding] = await loopbackFindings(workspace, mac());
    expect(finding).toMatchObject({ about: "local: loopback", level: "fault" });
    expect(finding?.says).toContain(`sudo ifconfig lo0 alias ${addresses[1]} up`);
  });

  test("only what is still missing is named, and nothing once all was added", async () => {
    const workspace = openWorkspace("local", testContext({ cwd: root }));
    const [first = "", second = ""] = await missingAddresses(directory, 2, mac());
    expect(await missingAddresses(directory, 2, mac(first))).toEqual([second]);
    await requireLoopback(workspace, mac(first, second));
    expect(await loopbackFindings(workspace, mac(first, second))).toEqual([]);
  });

  test("the simulator takes the network whose addresses were named, without one for every machine it could have", async () => {
    const [first = ""] = await missingAddresses(directory, 1, mac());
    await expect(findNetwork(directory, [], ports, mac())).rejects.toMatchObject({
      hint: expect.stringContaining(`sudo ifconfig lo0 alias ${first} up`),
    });
    expect(`${await findNetwork(directory, [], ports, mac(first))}.2`).toBe(first);
  });
});

test("where all of 127/8 is there, nothing is missing", async () => {
  expect(await missingAddresses(directory, 198, async () => "free")).toEqual([]);
});
