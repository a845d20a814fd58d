// SPDX-License-Identifier: Apache-2.0
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectSimulator } from "../../workspace/simulator.ts";
import { everything } from "../support/everything.ts";
import { cleanEnvironment, findTools } from "../support/terraform.ts";
import { chromiumPath, openPage, type PageInBrowser } from "../support/ui-page.ts";

const [tool] = findTools();
const possible = chromiumPath !== undefined && everything && tool !== undefined;

/** What is done through the web console to a cluster that the real terraform or tofu manages. */
describe.runIf(possible)("the actions of the web console through Terraform", { timeout: 180_000 }, () => {
  let ui: PageInBrowser;
  const at = (path: string) => join(ui.root, path);
  const serial = () => (JSON.parse(readFileSync(at("state/lab.tfstate"), "utf8")) as { serial: number }).serial;
  const planFiles = () => readdirSync(at("cdktf.out/stacks/lab")).filter((name) => name.startsWith("talosmith."));
  beforeAll(async () => {
    ui = await openPage(cleanEnvironment({ TERRAFORM_BINARY_NAME: tool?.path ?? "" }));
    await ui.enter();
  });
  afterAll(() => ui?.close());

  test("a new cluster is made through it, as one operation", async () => {
    await ui.makeLab();
    expect(serial()).toBeGreaterThan(0);
    expect(planFiles()).toEqual([]);
    expect(await ui.page.getByRole("link", { name: "terraform deploy lab" }).count()).toBe(0);
  });

  test("an upgrade shows the plan, leaves the file as it is when it is canceled, and is applied", async () => {
    const base = readFileSync(at("environments/base.yaml"), "utf8");
    await ui.show("#/topology/lab");
    await ui.page.getByRole("button", { name: "Upgrade …" }).click();
    const dialog = ui.page.getByRole("dialog");
    await dialog.locator("[name=kubernetesVersion]").fill("1.35.5");
    await dialog.getByRole("button", { name: "Show the plan" }).click();
    await dialog.getByText("Planning …").waitFor();
    await dialog.locator(".steps, [role=alert]").waitFor();
    expect(await dialog.textContent()).toContain(`Planned by ${tool?.name}`);
    await ui.inspect("terraform-plan");
    await ui.page.keyboard.press("Escape");
    expect(readFileSync(at("environments/base.yaml"), "utf8")).toBe(base);
    const before = serial();
    const steps = await ui.act("#/topology/lab", "Upgrade", { fill: { kubernetesVersion: "1.35.5" } });
    expect(steps.join("\n")).toMatch(/write into .*Kubernetes 1\.35\.5[\s\S]*upgrade kubelet on lab-w-1/);
    expect(await ui.ended()).toContain("done");
    expect(readFileSync(at("environments/base.yaml"), "utf8")).toContain("kubernetesVersion: 1.35.5");
    expect(serial()).toBeGreaterThan(before);
  });

  test("a scale-down asks for the cluster's name", async () => {
    const steps = await ui.act("#/machines/lab", "Scale", { fill: { pool: "w", count: "0" }, confirm: "lab" });
    expect(steps.join("\n")).toContain("destroy machine: lab-w-1 (data is lost)");
    expect(await ui.ended()).toContain("done");
    await ui.page.getByText(/(\d+) of \1 steps done/).waitFor();
  });

  test("an apply that waits for a machine is stopped, and resumed to its end", async () => {
    await ui.act("#/machines/lab", "Scale", { fill: { pool: "w", count: "1" } });
    expect(await ui.ended()).toContain("done");
    const simulator = projectSimulator(ui.root);
    const worker = (await simulator.listMachines()).find(({ name }) => name === "lab-w-1")?.id ?? "";
    await simulator.setPower(worker, false);
    const patches = "  patches: { worker: ['machine: { sysctls: { a.b: \"1\" } }'] }\n";
    ui.changeFile("  configContract:", `${patches}  configContract:`);
    expect(await ui.act("#/machines/lab", "Apply")).toContain("apply config to lab-w-1 without a reboot");
    await ui.page
      .locator(".events")
      .getByText(/lab-w-1/)
      .first()
      .waitFor();
    await ui.page.getByRole("button", { name: "Stop at the next safe point" }).click();
    expect(await ui.ended()).toContain("stopped");
    await simulator.setPower(worker, true);
    await ui.page.getByRole("button", { name: "Resume" }).click();
    await ui.page.getByRole("button", { name: "Stop at the next safe point" }).waitFor();
    expect(await ui.ended()).toContain("done");
  });

  test("a destroy shows its danger, wants the cluster's name, and leaves no state", async () => {
    const steps = await ui.act("#/topology/lab", "Destroy", { confirm: "lab" });
    expect(steps.join()).toContain("destroy cluster lab");
    expect(await ui.ended()).toContain("done");
    expect(existsSync(at("state/lab.tfstate"))).toBe(false);
    await ui.show("#/machines/lab");
    await ui.page.getByText("There are no machines yet.").waitFor();
  });

  test("nothing was said on the console, and nothing asked for outside", () => {
    expect(ui.complaints).toEqual([]);
  });
});
