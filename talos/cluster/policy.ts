// SPDX-License-Identifier: Apache-2.0

/** How careful a rollout is. */
export interface Policy {
  /** How many workers may be down for a change at the same time. Control planes always go one by one. @default 1 */
  readonly workersAtOnce: number;
  /** False where Kubernetes cannot run at all, such as Talos in a container: then it is not waited for. @default true */
  readonly kubernetes: boolean;
}

export const defaultPolicy: Policy = { workersAtOnce: 1, kubernetes: true };
