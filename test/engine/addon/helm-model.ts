// SPDX-License-Identifier: Apache-2.0
// Helm's order of writes to the Kubernetes API, in memory: release records, hooks, objects, waits. From helm's sources
// (pkg/action: install, upgrade, rollback, uninstall); `helm list`, `history` and its refusals are as it prints them.
import { readFileSync } from "node:fs";
import type { Helm } from "../../../engine/addon/index.ts";
import { TalosError } from "../../../talos/errors.ts";

/** What a chart makes, in its values: names of objects with their content. */
interface Content {
  readonly objects: Readonly<Record<string, string>>;
  readonly hook?: string;
}

interface Revision extends Content {
  readonly name: string;
  readonly namespace: string;
  readonly revision: number;
  readonly labels: Readonly<Record<string, string>>;
  status: string;
}

/** A cluster that outlives every run of helm on it. */
export interface HelmCluster {
  readonly objects: Map<string, string>;
  /** By namespace and name, oldest first. */
  readonly releases: Map<string, Revision[]>;
  /** Every write of all runs, for people. */
  readonly writes: string[];
}

export const emptyCluster = (): HelmCluster => ({ objects: new Map(), releases: new Map(), writes: [] });

/** After how many writes of this run it is interrupted, and how. */
export interface Cut {
  readonly after: number;
  readonly signal: "SIGINT" | "SIGKILL";
}

export interface HelmRun {
  readonly helm: Helm;
  readonly signal: AbortSignal;
  /** Writes of this run so far. */
  readonly count: () => number;
}

class Interrupted extends Error {}

/** One run of talosmith: SIGKILL ends it and its helm after a write; SIGINT ends helm as SIGTERM does, once. */
export function helmRun(cluster: HelmCluster, cut?: Cut): HelmRun {
  const stop = new AbortController();
  let count = 0;
  let dead = false;
  const write = async (what: string, change: () => void = () => {}): Promise<void> => {
    if (dead) throw new TalosError("internal", "killed");
    change();
    count += 1;
    cluster.writes.push(what);
    if (cut === undefined || count !== cut.after) return;
    if (cut.signal === "SIGKILL") {
      dead = true;
      throw new TalosError("internal", "killed");
    }
    stop.abort();
    throw new Interrupted();
  };
  const helm: Helm = {
    async run(args) {
      if (dead) throw new TalosError("internal", "killed");
      try {
        return await new Command(cluster, args, write).run();
      } catch (error) {
        throw error instanceof Interrupted ? new TalosError("canceled", "stopped before helm was done") : error;
      }
    },
  };
  return { helm, signal: stop.signal, count: () => count };
}

class Command {
  readonly #cluster: HelmCluster;
  readonly #args: readonly string[];
  readonly #write: (what: string, change?: () => void) => Promise<void>;

  constructor(
    cluster: HelmCluster,
    args: readonly string[],
    write: (what: string, change?: () => void) => Promise<void>,
  ) {
    this.#cluster = cluster;
    this.#args = args;
    this.#write = write;
  }

  async run(): Promise<string> {
    const [command = "", name = "", to] = this.#args;
    switch (command) {
      case "list":
        return JSON.stringify(this.#list());
      case "history": {
        const found = this.#history(name);
        if (found.length === 0) throw new TalosError("not-found", "release: not found");
        return JSON.stringify(found.map((one) => ({ ...one, chart: "app-1", updated: "now", description: "" })));
      }
      case "upgrade":
        await this.#upgradeOrInstall(name);
        return "";
      case "rollback":
        await this.#rollback(name, Number(to));
        return "";
      case "uninstall":
        await this.#uninstall(name);
        return "";
      default:
        throw new Error(`unknown command ${command}`);
    }
  }

  #flag(flag: string): string | undefined {
    const at = this.#args.indexOf(flag);
    return at < 0 ? undefined : this.#args[at + 1];
  }

  get #namespace(): string {
    return this.#flag("--namespace") ?? "";
  }

  #history(name: string): Revision[] {
    return this.#cluster.releases.get(`${this.#namespace}/${name}`) ?? [];
  }

  #list() {
    const [label = "", value] = (this.#flag("--selector") ?? "").split("=");
    const name = this.#flag("--filter")?.slice(1, -1);
    return [...this.#cluster.releases.values()]
      .flatMap((history) => history.slice(-1))
      .filter((one) => this.#namespace === "" || one.namespace === this.#namespace)
      .filter((one) => name === undefined || one.name === name)
      .filter(({ labels }) => label === "" || (value === undefined ? label in labels : labels[label] === value))
      .map((one) => ({ ...one, chart: "app-1" }));
  }

  async #upgradeOrInstall(name: string): Promise<void> {
    const content = JSON.parse(readFileSync(this.#flag("--values") ?? "", "utf8")) as Content;
    const [label = "", value = ""] = (this.#flag("--labels") ?? "").split("=");
    const history = this.#history(name);
    const last = history.at(-1);
    const isInstall = last === undefined || last.status === "uninstalled";
    if (last?.status.startsWith("pending-"))
      throw new TalosError("conflict", "another operation (install/upgrade/rollback) is in progress");
    const deployed = history.findLast(({ status }) => status === "deployed");
    const usable = last?.status === "failed" || last?.status === "superseded" ? last : undefined;
    const current = deployed ?? usable;
    if (!isInstall && current === undefined)
      throw new TalosError("failed-precondition", `helm upgrade: "${name}" has no deployed releases`);
    const made: Revision = {
      ...{ name, namespace: this.#namespace, revision: (last?.revision ?? 0) + 1, labels: { [label]: value } },
      ...content,
      status: isInstall ? "pending-install" : "pending-upgrade",
    };
    if (isInstall) await this.#object(`namespace ${this.#namespace}`, "");
    try {
      await this.#record(made);
      await this.#hook(made);
      await this.#update(current?.objects ?? {}, made.objects);
      await this.#write(`wait for ${name}`);
      await this.#hook(made);
      if (current !== undefined) await this.#status(current, "superseded");
      await this.#status(made, "deployed");
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      await this.#fail(made, current);
      throw error;
    }
  }

  /** `--atomic`: what a SIGTERM stopped goes back before helm ends. */
  async #fail(made: Revision, current: Revision | undefined): Promise<void> {
    await this.#status(made, "failed");
    if (!this.#args.includes("--atomic")) return;
    if (current === undefined) await this.#uninstall(made.name);
    else await this.#rollback(made.name, current.revision);
  }

  async #rollback(name: string, to: number): Promise<void> {
    const history = this.#history(name);
    const [last, target] = [history.at(-1), history.find(({ revision }) => revision === to)];
    if (last === undefined || target === undefined) throw new TalosError("not-found", "release: not found");
    const made: Revision = { ...target, revision: last.revision + 1, status: "pending-rollback" };
    await this.#record(made);
    await this.#update(last.objects, made.objects);
    await this.#write(`wait for ${name}`);
    for (const one of history.filter(({ status }) => status === "deployed")) await this.#status(one, "superseded");
    await this.#status(made, "deployed");
  }

  async #uninstall(name: string): Promise<void> {
    const history = [...this.#history(name)];
    const last = history.at(-1);
    if (last === undefined) {
      if (this.#args.includes("--ignore-not-found")) return;
      throw new TalosError("not-found", "release: not found");
    }
    await this.#hook(last);
    await this.#status(last, "uninstalling");
    await this.#update(last.objects, {});
    await this.#write(`wait for the end of ${name}`);
    for (const one of history)
      await this.#write(`remove the record of revision ${one.revision}`, () => {
        const left = this.#history(name).filter((other) => other !== one);
        if (left.length === 0) this.#cluster.releases.delete(`${this.#namespace}/${name}`);
        else this.#cluster.releases.set(`${this.#namespace}/${name}`, left);
      });
  }

  #record(revision: Revision): Promise<void> {
    const key = `${revision.namespace}/${revision.name}`;
    return this.#write(`record ${revision.status} ${revision.revision}`, () =>
      this.#cluster.releases.set(key, [...(this.#cluster.releases.get(key) ?? []), revision]),
    );
  }

  #status(revision: Revision, status: string): Promise<void> {
    return this.#write(`mark revision ${revision.revision} ${status}`, () => {
      revision.status = status;
    });
  }

  /** Helm's default policy: the one of the last time is removed before, and this one is left. */
  async #hook({ hook, namespace }: Revision): Promise<void> {
    if (hook === undefined) return;
    await this.#object(`${namespace}/${hook}`, undefined);
    await this.#object(`${namespace}/${hook}`, "hook");
    await this.#write(`wait for ${hook}`);
  }

  /** Creates and changes first, then removes what is no longer there. */
  async #update(before: Content["objects"], after: Content["objects"]): Promise<void> {
    for (const [name, content] of Object.entries(after)) await this.#object(`${this.#namespace}/${name}`, content);
    for (const name of Object.keys(before).filter((one) => !(one in after)))
      await this.#object(`${this.#namespace}/${name}`, undefined);
  }

  #object(name: string, content: string | undefined): Promise<void> {
    const { objects } = this.#cluster;
    return this.#write(content === undefined ? `delete ${name}` : `apply ${name}`, () => {
      if (content === undefined) objects.delete(name);
      else objects.set(name, content);
    });
  }
}
