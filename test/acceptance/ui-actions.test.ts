// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { everything } from "../support/everything.ts";
import { chromiumPath, openPage, type PageInBrowser } from "../support/ui-page.ts";

const possible = chromiumPath !== undefined && everything;

/** What is done through the page, each action on the cluster that the one before has left. They wait for machines. */
describe.runIf(possible)("the page's actions in a browser", { timeout: 180_000 }, () => {
  let ui: PageInBrowser;
  beforeAll(async () => {
    ui = await openPage();
    await ui.enter();
    await ui.makeLab();
  });
  afterAll(() => ui?.close());

  test("cordon, uncordon, drain and reboot show their steps and do them", async () => {
    const machine = "#/machine/lab/lab-w-1";
    expect(await ui.act(machine, "Cordon")).toEqual(["cordon lab-w-1"]);
    expect(await ui.ended()).toContain("done");
    await ui.show(machine);
    await ui.page.getByRole("button", { name: "Uncordon …" }).waitFor();
    await ui.act(machine, "Uncordon");
    expect(await ui.ended()).toContain("done");
    await ui.show(machine);
    await ui.page.getByRole("button", { name: "Cordon …", exact: true }).waitFor();
    expect(await ui.act(machine, "Reboot")).toContain("reboot lab-w-1");
    expect(await ui.ended()).toContain("done");
    await ui.act(machine, "Drain");
    expect(await ui.ended()).toContain("done");
    await ui.show(machine);
    await ui.act(machine, "Uncordon");
    expect(await ui.ended()).toContain("done");
  });

  test("a backup is taken, shown, and proved by a restore drill", async () => {
    await ui.act("#/etcd/lab", "Back up");
    expect(await ui.ended()).toMatch(/done.*revision \d+.*whole/s);
    await ui.show("#/etcd/lab");
    await ui.page
      .getByRole("region", { name: "Snapshots" })
      .getByText(/^lab-\d{8}T/)
      .waitFor();
    await ui.act("#/etcd/lab", "Restore drill");
    expect(await ui.ended()).toMatch(/done.*the same/s);
    await ui.show("#/etcd/lab");
    await ui.page.getByText("Last restore drill").waitFor();
    await ui.inspect("etcd-backups");
  });

  test("an upgrade changes one line of the file and the machines; stopped in the middle, it resumes", async () => {
    await ui.act("#/topology/lab", "Upgrade", { fill: { talosVersion: "v1.13.9" } });
    await ui.page.locator(".steps .mark", { hasText: "running" }).first().waitFor();
    await ui.page.getByRole("button", { name: "Stop at the next safe point" }).click();
    expect(await ui.ended()).toContain("stopped");
    await ui.page.getByRole("button", { name: "Resume" }).click();
    await ui.page.getByRole("button", { name: "Stop at the next safe point" }).waitFor();
    expect(await ui.ended()).toContain("done");
    // In the file that has the version.
    expect(readFileSync(join(ui.root, "environments/base.yaml"), "utf8")).toContain("talosVersion: v1.13.9");
    await ui.show("#/machines/lab");
    await ui.row("lab-w-1").getByText("v1.13.9").waitFor();
  });

  test("what the engine would refuse is told before the file is changed", async () => {
    await ui.show("#/topology/lab");
    await ui.page.getByRole("button", { name: "Upgrade …" }).click();
    await ui.page.getByRole("dialog").locator("[name=kubernetesVersion]").fill("1.20.0");
    await ui.page.getByRole("button", { name: "Show the plan" }).click();
    await ui.page.getByRole("alert").waitFor();
    ui.complaints.splice(0, ui.complaints.length, ...ui.complaints.filter((text) => !text.includes("400")));
    await ui.page.keyboard.press("Escape");
    expect(readFileSync(join(ui.root, "environments/lab.yaml"), "utf8")).not.toContain("1.20.0");
  });

  test("scaling up makes machines; scaling down asks for the cluster's name", async () => {
    await ui.show("#/machines/lab");
    await ui.page.getByRole("button", { name: "Scale …" }).click();
    await ui.page.locator("[name=pool]").selectOption("w");
    expect(await ui.page.locator("[name=count]").inputValue()).toBe("1");
    await ui.page.keyboard.press("Escape");
    const up = await ui.act("#/machines/lab", "Scale", { fill: { pool: "w", count: "2" } });
    expect(up.join()).toContain("create machine: lab-w-2");
    expect(await ui.ended()).toContain("done");
    const down = await ui.act("#/machines/lab", "Scale", { fill: { pool: "w", count: "1" }, confirm: "lab" });
    expect(down.join()).toContain("data is lost");
    expect(await ui.ended()).toContain("done");
  });

  test("power and faults are pressed on the board, and the cluster is seen to heal", async () => {
    await ui.show("#/simulator");
    await ui.page.getByRole("button", { name: "Power off: lab-w-1" }).click();
    await ui.row("lab-w-1").getByText("unreachable").waitFor();
    await ui.page.getByRole("button", { name: "Power on: lab-w-1" }).click();
    await ui.row("lab-w-1").getByText("ready").waitFor();
    await ui.page.locator("[name=fault]").first().selectOption("refuse");
    await ui.page.getByRole("button", { name: "Fault: lab-w-1" }).click();
    await ui.row("lab-w-1").getByText("unreachable").waitFor();
    await ui.page.getByRole("button", { name: "Clear: lab-w-1" }).click();
    await ui.row("lab-w-1").getByText("ready").waitFor();
  });

  test("a destroy wants the cluster's name, and takes everything away", async () => {
    const steps = await ui.act("#/topology/lab", "Destroy", { confirm: "lab" });
    expect(steps.join()).toContain("destroy cluster lab (data is lost)");
    expect(await ui.ended()).toContain("done");
    await ui.show("#/machines/lab");
    await ui.page.getByText("There are no machines yet.").waitFor();
  });

  test("nothing was said on the console, and nothing asked for outside", () => {
    expect(ui.complaints).toEqual([]);
  });
});
