// SPDX-License-Identifier: Apache-2.0
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import type { Environment } from "../../talos/environment/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { renderTopology, topologyOf, withLiveState } from "../../topology/index.ts";
import type { Overview } from "../shared/wire.ts";
import type { Assets } from "./assets.ts";
import { Broadcast } from "./broadcast.ts";
import { Guard, type GuardOptions } from "./guard.ts";
import { pageHeaders } from "./headers.ts";
import { Operations, plannedStep } from "./operations.ts";
import { Watcher } from "./watcher.ts";
import type { Workshop } from "./workshop.ts";

export interface AppOptions extends GuardOptions {
  readonly version: string;
  readonly workshop: Workshop;
  readonly assets: Assets;
  readonly now: () => Date;
  /** Milliseconds between two looks at the clusters. */
  readonly interval: number;
}

const largestBody = 64 * 1024;

const confirmation = z.object({ confirm: z.string() });

/** The whole server, without a socket. */
export class UiApp {
  readonly hono = new Hono();
  readonly #options: AppOptions;
  readonly #watcher: Watcher;
  readonly #operations: Operations;
  readonly #broadcast: Broadcast;

  constructor(options: AppOptions) {
    this.#options = options;
    const changed = () => this.#broadcast.changed();
    this.#broadcast = new Broadcast(() => this.#overview());
    this.#watcher = new Watcher({ ...options, changed });
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
      const { code, message, hint } = TalosError.from(error);
      const status = code === "not-found" ? 404 : code === "conflict" ? 409 : code === "internal" ? 500 : 400;
      return context.json({ error: [message, hint].filter((part) => part !== undefined).join(" ") }, status);
    });
  }

  async close(): Promise<void> {
    this.#broadcast.close();
    await Promise.all([this.#watcher.stop(), this.#operations.close()]);
  }

  #overview(): Overview {
    return {
      version: this.#options.version,
      readOnly: this.#options.readOnly,
      clusters: this.#watcher.clusters,
      broken: this.#watcher.broken,
      operations: this.#operations.list(),
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
        this.#watcher.start();
        await this.#broadcast.listen(stream);
        if (this.#broadcast.listeners === 0) await this.#watcher.stop();
      }),
    );
    this.hono.get("/api/environments/:name/topology.svg", (context) => {
      const environment = this.#environment(context.req.param("name"));
      const seen = this.#watcher.clusters.find((view) => view.environment === environment.name)?.machines ?? [];
      const states = seen.map(({ name, health, address, stage, talosVersion }) => {
        const note = health === "ready" ? talosVersion : stage;
        return [name, { state: health, ...(address && { address }), ...(note && { note }) }] as const;
      });
      const topology = withLiveState(topologyOf(environment), new Map(states));
      return context.body(renderTopology(topology, "svg"), 200, { "content-type": "image/svg+xml" });
    });
  }

  #serveActions(): void {
    const { workshop } = this.#options;
    this.hono.post("/api/environments/:name/plan", async (context) => {
      const environment = this.#environment(context.req.param("name"));
      return context.json((await workshop.plan(environment, context.req.raw.signal)).map(plannedStep));
    });
    this.hono.post("/api/environments/:name/apply", async (context) => {
      const environment = await this.#changeable(context.req.param("name"));
      const steps = (await workshop.plan(environment, context.req.raw.signal)).map(plannedStep);
      const work = workshop.apply.bind(workshop, environment);
      return context.json(this.#operations.start({ kind: "apply", environment: environment.name, steps, work }), 202);
    });
    this.hono.post("/api/environments/:name/destroy", async (context) => {
      const environment = await this.#changeable(context.req.param("name"));
      const { confirm } = confirmation.parse(await context.req.json());
      if (confirm !== environment.cluster.name) {
        throw new TalosError("invalid-input", `this destroys ${environment.cluster.name}`, {
          hint: "Type its name to confirm.",
        });
      }
      const work = workshop.destroy.bind(workshop, environment);
      return context.json(
        this.#operations.start({ kind: "destroy", environment: environment.name, steps: [], work }),
        202,
      );
    });
    this.hono.post("/api/operations/:id/stop", (context) => {
      const stopped = this.#operations.stop(context.req.param("id"));
      return stopped ? context.body(null, 202) : context.json({ error: "it has ended already" }, 409);
    });
  }

  /** Names come from the address bar: only those that are in the folder are looked up. */
  #environment(name: string): Environment {
    if (!this.#options.workshop.environmentNames().includes(name))
      throw new TalosError("not-found", `no environment ${name}`);
    return this.#options.workshop.loadEnvironment(name);
  }

  async #changeable(name: string): Promise<Environment> {
    const environment = this.#environment(name);
    const obstacle = await this.#options.workshop.obstacle(environment);
    if (obstacle !== undefined) throw new TalosError("conflict", obstacle);
    return environment;
  }
}
