// SPDX-License-Identifier: Apache-2.0
import type { Machines } from "../../engine/index.ts";
import { TalosError } from "../../talos/errors.ts";

/** Calls that change the world; between them a kill makes no difference that anyone could see. */
const deeds: ReadonlySet<string> = new Set([
  ...["install", "changeConfig", "bootstrap", "forfeitLeadership", "leaveEtcd", "removeEtcdMember", "reset", "upgrade"],
  ...[
    "drain",
    "uncordon",
    "setSchedulable",
    "reboot",
    "shutdown",
    "deleteNode",
    "pullImage",
    "rollback",
    "wipeData",
    "restore",
    "syncManifests",
    "writeMeta",
  ],
]);

export interface KillingPort {
  readonly port: Machines;
  /** Every deed that was begun, in order, such as `install cp-1`. */
  readonly begun: readonly string[];
  readonly killed: () => boolean;
  /** From now on nothing reaches the world any more. */
  readonly kill: () => void;
}

/** Passes calls on until the given one: from then on nothing reaches the world any more, as after SIGKILL. */
export function killingPort(
  inner: Machines,
  at?: { readonly deed: number; readonly when: "before" | "after" },
): KillingPort {
  const begun: string[] = [];
  let dead = false;
  const wrap = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, name, receiver) {
        const value: unknown = Reflect.get(object, name, receiver);
        if (name === "kubernetes") return wrap(value as object);
        if (typeof value !== "function" || name === "close") return value;
        return async (...parameters: unknown[]) => {
          if (dead) throw killed();
          if (!deeds.has(String(name))) return value.apply(object, parameters);
          const [first] = parameters;
          const machine = typeof first === "string" ? first : ((first as { name?: string }).name ?? "the cluster");
          begun.push(`${String(name)} ${machine}`);
          const here = at !== undefined && begun.length - 1 === at.deed;
          if (here && at.when === "before") {
            dead = true;
            throw killed();
          }
          const result: unknown = await value.apply(object, parameters);
          if (here) {
            dead = true;
            throw killed();
          }
          return result;
        };
      },
    });
  const kill = () => {
    dead = true;
  };
  return { port: wrap(inner), begun, killed: () => dead, kill };
}

function killed(): TalosError {
  return new TalosError("internal", "killed");
}
