// SPDX-License-Identifier: Apache-2.0
// A process of its own that brings a cluster up and kills itself at one step boundary: `engine-process.ts <file>`.

import { readFileSync } from "node:fs";
import { applyCluster, type ClusterSpec, desiredCluster } from "../../engine/index.ts";
import { defaultPolicy } from "../../engine/policy.ts";
import { parseSecrets } from "../../talos/secrets/index.ts";
import { TalosVersion } from "../../talos/version/index.ts";

export interface EngineTask {
  readonly spec: Omit<ClusterSpec, "talosVersion" | "contract">;
  readonly talosVersion: string;
  readonly secretsFile: string;
  readonly lockFile: string;
  /** Such as `step-started bootstrap-etcd/cp-1`; without it the run goes to its end. */
  readonly killAt?: string;
}

const [, , file = ""] = process.argv;
const task: EngineTask = JSON.parse(readFileSync(file, "utf8"));
const secrets = parseSecrets(readFileSync(task.secretsFile, "utf8"), task.secretsFile);
const talosVersion = TalosVersion.parse(task.talosVersion);
const desired = desiredCluster({ ...task.spec, talosVersion, contract: talosVersion.contract }, secrets);
const { steps } = await applyCluster({
  desired,
  secrets,
  policy: defaultPolicy,
  lockFile: task.lockFile,
  events: ({ type, step }) => {
    if (step !== undefined && `${type} ${step.id}` === task.killAt) process.kill(process.pid, "SIGKILL");
  },
});
process.stdout.write(JSON.stringify(steps.map(({ id }) => id)));
