// SPDX-License-Identifier: Apache-2.0
import { type Attributes, attribute, checkDuration } from "../../framework/index.ts";
import { oneOf, shape } from "../value-rules.ts";

/** The environment file's `rollout`, in Terraform's words. */
export const rolloutAttributes = {
  max_unavailable: attribute.string({
    mode: "optional",
    description:
      "How many workers may be away at once: a number such as `2`, or a share of all such as `25%`, rounded down to at least one. Control planes always go one by one. Default `1`.",
    validators: [shape(/^([1-9]\d{0,2}|1000|([1-9]\d?|100)%)$/, "a whole number from 1 on, or a share such as `25%`")],
  }),
  drain_timeout: attribute.string({
    mode: "optional",
    description: "How long the pods of a machine have to leave it, such as `10m`. Default `5m`.",
    validators: [checkDuration],
  }),
  stuck_pods: attribute.string({
    mode: "optional",
    description:
      "What becomes of pods that have not left by then: `fail` stops before anything happens to the machine (default), `delete` deletes them whatever their disruption budgets say, `leave` lets them go down with the machine.",
    validators: [oneOf("fail", "delete", "leave")],
  }),
  revert_failed_upgrades: attribute.bool({
    mode: "optional",
    description: "Whether a machine boots its old Talos again when the new one does not become healthy. Default true.",
  }),
  health_level: attribute.string({
    mode: "optional",
    description:
      "When an apply is done: `full` when all checks of `talosctl health` hold (default), `api` when etcd is healthy and the Kubernetes API answers, for whoever installs the pod network afterwards.",
    validators: [oneOf("full", "api")],
  }),
  gates: attribute.nestedList({
    mode: "optional",
    description: "Checks that must pass before anything is done to a machine in use; each has a `command` or a `url`.",
    attributes: {
      command: attribute.stringList({
        mode: "optional",
        description:
          "A program and its arguments, without a shell, run in the project's root with TALOSMITH_CLUSTER and TALOSMITH_MACHINE in its environment. It passes with exit code 0.",
      }),
      url: attribute.string({ mode: "optional", description: "Passes when it answers with 2xx." }),
      timeout: attribute.string({
        mode: "optional",
        description: "How long it is asked again before the rollout stops. Default `5m`.",
        validators: [checkDuration],
      }),
    },
  }),
  windows: attribute.nestedList({
    mode: "optional",
    description:
      "Maintenance windows: outside of them nothing is begun on machines in use, and the apply ends with the time when the next one opens. A machine that has begun is finished.",
    attributes: {
      schedule: attribute.string({ mode: "required", description: "When it opens: five fields, as cron has them." }),
      duration: attribute.string({
        mode: "required",
        description: "How long it stays open, such as `4h`.",
        validators: [checkDuration],
      }),
      time_zone: attribute.string({ mode: "optional", description: "Such as `Europe/Berlin`. Default `UTC`." }),
    },
  }),
  canary: attribute.nestedObject({
    mode: "optional",
    description: "The first machines of a change, after which it waits.",
    attributes: {
      machines: attribute.integer({ mode: "required", description: "How many get a change first." }),
      soak: attribute.string({
        mode: "optional",
        description: "How long they are watched before the others follow. Default `0s`.",
        validators: [checkDuration],
      }),
      afterwards: attribute.string({
        mode: "optional",
        description:
          "`stop` ends the apply there, with an error, and the next one goes on (default); `continue` goes on by itself.",
        validators: [oneOf("stop", "continue")],
      }),
    },
  }),
} satisfies Attributes;
