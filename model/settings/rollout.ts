// SPDX-License-Identifier: Apache-2.0
import {
  choice,
  count,
  duration,
  flag,
  object,
  objects,
  type Settings,
  share,
  text,
  texts,
  type ValuesOf,
} from "./setting.ts";

const timeout = {
  type: duration,
  attribute: "timeout",
  default: "5m",
  description: "How long it is repeated before the rollout stops.",
} as const;

const gateFields = {
  command: {
    type: texts(undefined, 1),
    attribute: "command",
    description:
      "A program and its arguments, without a shell, run in the project's folder with TALOSMITH_CLUSTER and TALOSMITH_MACHINE in its environment. It passes with exit code 0.",
  },
  url: { type: text("url"), attribute: "url", description: "It passes when it answers with 2xx." },
  timeout,
} as const satisfies Settings;

/** A check that must pass before a machine in use is changed: a command that ends with 0, or a URL that answers with 2xx. */
export type Gate = ({ readonly command: readonly string[] } | { readonly url: string }) & {
  /** How long it is repeated, in milliseconds, until the run stops. */
  readonly timeout: number;
};

const windowFields = {
  schedule: {
    type: text("cron"),
    attribute: "schedule",
    required: true,
    description: "When it opens, as five fields of cron.",
  },
  duration: {
    type: duration,
    attribute: "duration",
    required: true,
    description: "How long it stays open, such as `4h`.",
  },
  timeZone: {
    type: text("timeZone"),
    attribute: "time_zone",
    default: "UTC",
    description: "Time zone of the schedule, such as `Europe/Berlin`.",
  },
} as const satisfies Settings;

/** When changes of machines in use may begin: at each time of a cron expression, for so many milliseconds. */
export interface Window {
  readonly schedule: string;
  readonly duration: number;
  readonly timeZone: string;
}

const canaryFields = {
  machines: {
    type: count(1, 1000),
    attribute: "machines",
    required: true,
    description: "How many machines get a change first.",
  },
  soak: {
    type: duration,
    attribute: "soak",
    default: "0s",
    description: "How long they are watched before the others follow.",
  },
  afterwards: {
    type: choice("stop", "continue"),
    attribute: "afterwards",
    default: "stop",
    description: "`stop`: the run ends there, and the next one continues. `continue`: it continues by itself.",
  },
} as const satisfies Settings;

/** How careful changes of machines in use are. */
export const rolloutSettings = {
  maxUnavailable: {
    type: share,
    attribute: "max_unavailable",
    default: 1,
    description:
      "How many workers may be unavailable at once: a number such as 2, or a share such as 25%, rounded down to at least one. Control planes are changed one by one.",
  },
  drainTimeout: {
    type: duration,
    attribute: "drain_timeout",
    default: "5m",
    description: "How long draining a machine may take.",
  },
  stuckPods: {
    type: choice("fail", "delete", "leave"),
    attribute: "stuck_pods",
    default: "fail",
    description:
      "What happens to pods that are still there by then: `fail` stops before the machine is changed, `delete` deletes them whatever their disruption budgets say, `leave` lets them end with the machine.",
  },
  revertFailedUpgrades: {
    type: flag,
    attribute: "revert_failed_upgrades",
    default: true,
    description: "Boot the old Talos again where the new one does not become healthy.",
  },
  healthLevel: {
    type: choice("full", "api", "talos"),
    attribute: "health_level",
    default: "full",
    description:
      "When a deploy is done: `full` when all checks of `talosctl health` pass, `api` when etcd is healthy and the Kubernetes API answers, for clusters whose pod network is installed afterwards, `talos` when Talos and etcd are healthy, for machines on which Kubernetes cannot run. `--no-kubernetes` sets `talos` for one run.",
  },
  gates: {
    type: objects<typeof gateFields, Gate>(gateFields, ["command", "url"]),
    attribute: "gates",
    default: [],
    description: "Checks that must pass before a machine in use is changed; each has a `command` or a `url`.",
  },
  windows: {
    type: objects<typeof windowFields, Window>(windowFields),
    attribute: "windows",
    default: [],
    description:
      "Maintenance windows: outside of them no change of a machine in use is started, and the run ends with the time when the next one opens. A change that has started is completed.",
  },
  canary: {
    type: object(canaryFields),
    attribute: "canary",
    otherwise: "none",
    description: "The first machines of a change, after which it waits.",
  },
} as const satisfies Settings;

export type Rollout = ValuesOf<typeof rolloutSettings>;
export type Canary = NonNullable<Rollout["canary"]>;
