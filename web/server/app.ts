// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { streamSSE } from "hono/streaming";
import { type Environment, EnvironmentError } from "../../model/index.ts";
import {
  machineBoxes,
  type PictureForm,
  renderSvg,
  type Topology,
  topologyOf,
  withLiveState,
} from "../../model/topology/index.ts";
import { plainFaults } from "../../simulator/control/index.ts";
import { TalosError, type TalosErrorCode } from "../../talos/errors.ts";
import type { Action, ActionPlan, OperationView, Overview, TopologyMap } from "../shared/wire.ts";
import type { Assets } from "./assets.ts";
import { Broadcast } from "./broadcast.ts";
import { isChange } from "./change-action.ts";
import { withWork } from "./cluster-view.ts";
import { ClusterViews } from "./cluster-views.ts";
import { Guard, type GuardOptions, pageHeaders } from "./guard.ts";
import { findMachine, machineDetail } from "./machine-detail.ts";
import { type Followed, followEvents, followLog } from "./machine-streams.ts";
import { Operations, type Request } from "./operations.ts";
import type { ConsoleProject } from "./project.ts";
import { readRequest } from "./requests.ts";

export interface AppOptions extends GuardOptions {
  readonly version: string;
  /** How a person types our name. */
  readonly program: string;
  readonly project: ConsoleProject;
  readonly assets: Assets;
  readonly now: () => Date;
  /** Milliseconds between two observations of a cluster. */
  readonly interval: number;
}

const largestBody = 64 * 1024;

/** More plans than people have open at once. */
const keptPlans = 50;

/** By the code of the error; what is not here is the caller's to mend: 400. */
const statuses: Partial<Record<TalosErrorCode, 404 | 409 | 500>> = {
  "not-found": 404,
  conflict: 409,
  "already-exists": 409,
  internal: 500,
};

/** The whole server, without a socket. */
export class UiApp {
  readonly hono = new Hono();
  readonly #options: AppOptions;
  readonly #views: ClusterViews;
  readonly #operations: Operations;
  readonly #shown = new Map<string, ActionPlan>();
  readonly #broadcast: Broadcast;

  constructor(options: AppOptions) {
    this.#options = options;
    const changed = () => this.#broadcast.changed();
    this.#broadcast = new Broadcast(() => this.#overview());
    this.#views = new ClusterViews({ ...options, changed });
    this.#operations = new Operations({ changed, now: options.now });
    const guard = new Guard(options);
    this.hono.use(pageHeaders);
    this.hono.use(guard.checkRequest);
    this.hono.use(
      bodyLimit({ maxSize: largestBody, onError: (c) => c.json({ error: "the request is too large" }, 413) }),
    );
    this.#serveAssets();
    this.hono.post("/session", guard.openSession);
    this.hono.use("/api/*", guard.checkSession);
    this.hono.use("/api/*", async (context, next) => {
      await next();
      context.header("cache-control", "no-store");
    });
    this.#serveViews();
    this.hono.on(["POST"], "/api/*", guard.checkWritable);
    this.#serveActions();
    this.hono.onError((error, context) => {
      if (error instanceof EnvironmentError) return context.json({ error: error.message }, 400);
      const { code, text } = TalosError.from(error);
      return context.json({ error: text }, statuses[code] ?? 400);
    });
  }

  async close(): Promise<void> {
    this.#broadcast.close();
    await Promise.all([this.#views.stop(), this.#operations.close()]);
  }

  #overview(): Overview {
    const own = this.#operations.list();
    const operations = [...own, ...this.#views.elsewhere].sort((a, b) => b.startedAt.localeCompare(a.startedAt));
    return {
      version: this.#options.version,
      program: this.#options.program,
      readOnly: this.#options.readOnly,
      clusters: this.#views.clusters.map((cluster) => withWork(cluster, own)),
      broken: this.#views.broken,
      unseen: this.#views.unseen,
      operations,
      faults: plainFaults,
    };
  }

  #serveAssets(): void {
    for (const [path, { type, content }] of this.#options.assets)
      this.hono.get(path, (context) =>
        context.body(content, 200, { "content-type": type, "cache-control": "no-cache" }),
      );
  }

  #serveViews(): void {
    this.hono.get("/api/events", (context) =>
      streamSSE(context, async (stream) => {
        this.#views.start();
        await this.#broadcast.listen(stream);
        if (this.#broadcast.listeners === 0) await this.#views.stop();
      }),
    );
    this.hono.get("/api/environments/:name/topology.svg", (context) => {
      const picture = renderSvg(this.#topology(context.req.param("name")), formOf(context.req.query("form")));
      return context.body(picture, 200, { "content-type": "image/svg+xml" });
    });
    this.hono.get("/api/environments/:name/topology.json", (context) =>
      context.json(topologyMap(this.#topology(context.req.param("name")), formOf(context.req.query("form")))),
    );
    const machine = "/api/environments/:name/machines/:machine";
    this.hono.get(machine, async (context) => {
      const found = await this.#machine(context.req.param());
      return context.json(await machineDetail(found.opened, found.machine, context.req.raw.signal));
    });
    this.hono.get(`${machine}/events`, async (context) => {
      const found = await this.#machine(context.req.param());
      return streamSSE(context, (stream) => followEvents(found, stream));
    });
    this.hono.get(`${machine}/logs/:service`, async (context) => {
      const { service, ...where } = context.req.param();
      const found = await this.#machine(where);
      return streamSSE(context, (stream) => followLog(found, service, stream));
    });
  }

  #serveActions(): void {
    const { project } = this.#options;
    this.hono.post("/api/environments", async (context) => {
      await project.createSimulated(await readRequest("cluster", context.req));
      return context.body(null, 201);
    });
    this.hono.post("/api/environments/:name/plan", async (context) => {
      const environment = this.#environment(context.req.param("name"));
      const { action } = await readRequest("plan", context.req);
      await this.#refuseObstacle(environment, action);
      return context.json(await this.#plan(environment, action, context.req.raw.signal));
    });
    this.hono.post("/api/environments/:name/operations", async (context) => {
      const { confirm = "", ...asked } = await readRequest("operation", context.req);
      const request = { environment: context.req.param("name"), confirm, ...asked };
      return context.json(await this.#begin(request, context.req.raw.signal), 202);
    });
    this.hono.post("/api/environments/:name/machines/:machine/disturb", async (context) => {
      const environment = this.#environment(context.req.param("name"));
      const disturbance = await readRequest("disturbance", context.req);
      await project.disturb(environment, context.req.param("machine"), disturbance);
      this.#views.refresh();
      return context.body(null, 204);
    });
    this.hono.post("/api/operations/:id/stop", (context) => {
      const stopped = this.#operations.stop(context.req.param("id"));
      return stopped ? context.body(null, 202) : context.json({ error: "it has ended already" }, 409);
    });
    this.hono.post("/api/operations/:id/resume", async (context) => {
      // Of what was planned then, a part is done.
      const { plan: _, ...request } = this.#operations.resumable(context.req.param("id"));
      return context.json(await this.#begin(request, context.req.raw.signal), 202);
    });
  }

  /** With the file as it is now, also for what goes on: who asked for it agreed to lose no more than its plan said. */
  async #begin(request: Request, signal: AbortSignal): Promise<OperationView> {
    const { environment: name, action, confirm, plan: wanted } = request;
    const environment = this.#environment(name);
    await this.#refuseObstacle(environment, action);
    const shown = wanted === undefined ? await this.#plan(environment, action, signal) : this.#shown.get(wanted);
    if (shown === undefined) throw planChanged();
    refuseUnconfirmed(shown, confirm);
    const review = (plan: ActionPlan) => {
      if (wanted !== undefined && plan.id !== wanted) throw planChanged();
      refuseUnconfirmed(plan, confirm);
    };
    return this.#operations.start({
      ...request,
      // What a change comes to is planned once more, and then shown step by step.
      steps: isChange(action) ? [] : shown.steps,
      work: (events, stop) =>
        this.#options.project.perform(environment, action, events, stop, review).finally(() => this.#views.refresh()),
    });
  }

  /** The last plans are kept: only what was shown is started. */
  async #plan(environment: Environment, action: Action, signal: AbortSignal): Promise<ActionPlan> {
    const plan = await this.#options.project.plan(environment, action, signal);
    this.#shown.set(plan.id, plan);
    for (const id of [...this.#shown.keys()].slice(0, -keptPlans)) this.#shown.delete(id);
    return plan;
  }

  /** With what was last seen of the machines. */
  #topology(name: string): Topology {
    const environment = this.#environment(name);
    const seen = this.#views.clusters.find((view) => view.environment === environment.name)?.machines ?? [];
    const states = seen.map(({ name: machine, health, address, stage, talosVersion }) => {
      const note = health === "ready" ? talosVersion : stage;
      return [machine, { state: health, ...(address && { address }), ...(note && { note }) }] as const;
    });
    return withLiveState(topologyOf(environment), new Map(states));
  }

  /** Names come from the address bar: only those that are in the folder are looked up. */
  #environment(name: string): Environment {
    if (!this.#options.project.environmentNames().includes(name))
      throw new TalosError("not-found", `no environment ${name}`);
    return this.#options.project.load(name);
  }

  async #machine({ name, machine }: { readonly name: string; readonly machine: string }): Promise<Followed> {
    const environment = this.#environment(name);
    const opened = await this.#options.project.openCluster(environment);
    return { opened, machine: findMachine(opened, machine) };
  }

  /** A snapshot or a reboot changes nothing that the cluster's manager keeps. */
  async #refuseObstacle(environment: Environment, action: Action): Promise<void> {
    const obstacle = isChange(action) ? await this.#options.project.obstacle(environment) : undefined;
    if (obstacle !== undefined) throw new TalosError("conflict", obstacle);
  }
}

function refuseUnconfirmed({ confirm: wanted }: ActionPlan, typed: string): void {
  if (wanted === null || wanted === typed) return;
  throw new TalosError("invalid-input", `this destroys data of ${wanted}`, {
    hint: "Start it again, and type its name to confirm.",
  });
}

function planChanged(): TalosError {
  return new TalosError("conflict", "the plan has changed", {
    hint: "Nothing was done. Open the action again and review the new plan.",
  });
}

const formOf = (asked: string | undefined): PictureForm => (asked === "narrow" ? "narrow" : "wide");

/** What lies where in the picture, so that a machine in it can link to its own screen. */
export function topologyMap(topology: Topology, form: PictureForm): TopologyMap {
  const revision = createHash("sha256").update(renderSvg(topology, form)).digest("hex").slice(0, 16);
  return { ...machineBoxes(topology, form), revision };
}
