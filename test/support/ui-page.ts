// SPDX-License-Identifier: Apache-2.0
// The page in a real browser, over a project of its own, and what a person does there.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { expect, vi } from "vitest";
import { createProgram, runProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { systemClock } from "../../talos/clock.ts";
import { loadAssets, type RunningUi, serveUi } from "../../web/server/index.ts";
import { openConsoleProject } from "../../web/server/project.ts";
import { projectSimulator } from "../../workspace/simulator.ts";
import { testContext } from "./command-context.ts";
import { everything } from "./everything.ts";
import { findProgram } from "./programs.ts";

/** Undefined where there is no browser: then the tests are skipped. */
export const chromiumPath: string | undefined = process.env.CHROMIUM_PATH ?? findProgram("chromium");
if (chromiumPath === undefined) console.warn("SKIPPED: the page in a real browser, because there is no chromium");

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const artifacts = join(import.meta.dirname, "../../test-artifacts/ui");
const token = "the-token";

const environments: Readonly<Record<string, string>> = {
  // The base has what the new cluster is to be upgraded from.
  base: "cluster: { talosVersion: v1.12.11, kubernetesVersion: 1.35.4 }\nbackup: { directory: backups }\n",
  rack: "infrastructure: { kind: libvirt, trustOnFirstUse: true, uri: 'qemu:///system', network: { cidr: 10.0.0.0/24, vip: 10.0.0.60 } }\ncontrolPlane: { count: 3 }\nworkers: [{ count: 3 }]\n",
  broken: "infrastructure: { kind: clouds }\n",
};

/** Without an environment, terraform and tofu are missing. */
export async function openPage(env: Readonly<Record<string, string>> = { PATH: "/nowhere" }): Promise<PageInBrowser> {
  const root = mkdtempSync(join(tmpdir(), "talosmith-ui-"));
  const scale = process.env.TALOSMITH_SIMULATOR_TIME_SCALE;
  process.env.TALOSMITH_SIMULATOR_TIME_SCALE = "0.1";
  mkdirSync(artifacts, { recursive: true });
  mkdirSync(join(root, "environments"));
  writeFileSync(join(root, "cdktf.json"), "{}");
  for (const [name, text] of Object.entries(environments))
    writeFileSync(join(root, "environments", `${name}.yaml`), text);
  const context = testContext({ cwd: root, env, clock: systemClock });
  const server = await serveUi({
    port: 0,
    readOnly: false,
    token,
    newSession: () => "the-session",
    version: "0.0.0",
    program: "npx talosmith",
    project: openConsoleProject(root, context),
    assets: await loadAssets(),
    now: () => new Date(),
    interval: 1_000,
  });
  const browser = await chromium.launch({
    ...(chromiumPath && { executablePath: chromiumPath }),
    args: ["--no-sandbox"],
  });
  const opened = await browser.newContext({ viewport: { width: 1200, height: 900 }, bypassCSP: false });
  return new PageInBrowser({ root, server, browser, page: await opened.newPage(), scale });
}

interface Parts {
  readonly root: string;
  readonly server: RunningUi;
  readonly browser: Browser;
  readonly page: Page;
  /** The time scale from before. */
  readonly scale: string | undefined;
}

export class PageInBrowser {
  readonly root: string;
  readonly browser: Browser;
  readonly page: Page;
  /** What the console said, and requests to others. */
  readonly complaints: string[] = [];
  readonly #server: RunningUi;
  readonly #scale: string | undefined;
  #inspected = 0;

  constructor({ root, server, browser, page, scale }: Parts) {
    this.root = root;
    this.browser = browser;
    this.page = page;
    this.#server = server;
    this.#scale = scale;
    page.setDefaultTimeout(60_000);
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("request", (request) => {
      if (!request.url().startsWith(server.address)) this.complaints.push(`a request to ${request.url()}`);
    });
  }

  get address(): string {
    return this.#server.address;
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.#server.close();
    const simulator = projectSimulator(this.root);
    for (const { id } of await simulator.listMachines()) await simulator.deleteMachine(id);
    await simulator.shutdown();
    if (this.#scale === undefined) delete process.env.TALOSMITH_SIMULATOR_TIME_SCALE;
    else process.env.TALOSMITH_SIMULATOR_TIME_SCALE = this.#scale;
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Opens the address that the command prints. */
  async enter(): Promise<void> {
    await this.page.goto(`${this.address}#token=${token}`);
    await this.page.getByRole("heading", { name: "Clusters" }).waitFor();
  }

  async show(hash: string): Promise<void> {
    await this.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await this.page.locator("main h1").waitFor();
  }

  row(name: string): Locator {
    return this.page.locator("tr", { has: this.page.getByRole("rowheader", { name, exact: true }) });
  }

  /** Makes the cluster lab on the simulator's board, of one control plane and one worker. */
  async makeLab(): Promise<void> {
    await this.show("#/simulator");
    await this.page.locator("[name=name]").fill("lab");
    await this.page.locator("[name=controlPlanes]").fill("1");
    await this.page.locator("[name=workers]").fill("1");
    await this.page.getByRole("button", { name: "Create and deploy" }).click();
    await this.page.getByRole("heading", { name: "Operations" }).waitFor();
    expect(await this.ended()).toContain("done");
  }

  /** Chooses from the buttons of a screen, goes through the dialog and starts the operation. */
  async act(hash: string, button: string, options: { fill?: Record<string, string>; confirm?: string } = {}) {
    await this.show(hash);
    await this.page.getByRole("button", { name: `${button} …`, exact: true }).click();
    const dialog = this.page.getByRole("dialog");
    await dialog.getByRole("button").first().waitFor();
    for (const [name, value] of Object.entries(options.fill ?? {})) {
      const field = dialog.locator(`[name=${name}]`);
      if ((await field.evaluate((element) => element.tagName)) === "SELECT") await field.selectOption(value);
      else await field.fill(value);
    }
    if (await dialog.getByRole("button", { name: "Show the plan" }).isVisible())
      await dialog.getByRole("button", { name: "Show the plan" }).click();
    await dialog.locator(".steps, .hint:not([aria-busy]), [role=alert]").waitFor();
    if (await dialog.getByRole("alert").isVisible()) throw new Error(String(await dialog.textContent()));
    const steps = await dialog.locator(".steps li").allTextContents();
    const go = dialog.locator("button[type=submit]");
    if (options.confirm !== undefined) {
      expect(await go.isDisabled()).toBe(true);
      await dialog.locator("[name=confirm]").fill(options.confirm);
    }
    await go.click();
    await dialog.waitFor({ state: "detached" });
    return steps;
  }

  /** Waits until the operation has ended, and tells how. */
  async ended(): Promise<string> {
    const mark = this.page.locator("p.state > .mark").first();
    const look = async () => expect(await mark.textContent()).toMatch(/done|failed|stopped/);
    await vi.waitFor(look, { timeout: 150_000, interval: 100 });
    return `${await mark.textContent()} ${(await this.page.locator("main p[role=status]").allTextContents()).join(" ")}`;
  }

  changeFile(before: string, after: string): void {
    const file = join(this.root, "environments/lab.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace(before, after));
  }

  async talosmith(...words: string[]): Promise<void> {
    const context = testContext({ cwd: this.root, clock: systemClock });
    await runProgram(createProgram(context, registrations), words, context);
    expect(context.written.exitCode, context.written.stderr).toBe(0);
  }

  /** A picture for people, and no fault of accessibility in either colour scheme. */
  async inspect(name: string): Promise<void> {
    await this.page.screenshot({ path: join(artifacts, `${name}.png`), fullPage: true });
    // Most faults show in either; `npm test` takes turns.
    this.#inspected += 1;
    const turn = this.#inspected % 2 === 0 ? ("dark" as const) : ("light" as const);
    const schemes = everything ? (["dark", "light"] as const) : [turn];
    for (const colorScheme of schemes) {
      await this.page.emulateMedia({ colorScheme });
      // Evaluated, not loaded: the page's policy allows no script but its own.
      await this.page.evaluate(axe);
      const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
      const options = { runOnly: tags, resultTypes: ["violations"] };
      const { violations } = await this.page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
      expect([name, colorScheme, found]).toEqual([name, colorScheme, []]);
    }
  }
}
