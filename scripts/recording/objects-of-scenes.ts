// SPDX-License-Identifier: Apache-2.0

/** Runs at once on every node, and is in the registry of a lab that has Kubernetes' own images. */
const image = "registry.k8s.io/pause:3.10.1";

export const container = { name: "web", image };
export const map = (name: string, more: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  ...more,
});
/** Also on a control plane. */
const tolerations = [{ operator: "Exists" }];
export const pod = (name: string, labels: object = {}, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels },
  spec: {
    containers: [container],
    tolerations,
    terminationGracePeriodSeconds: 0,
    ...spec,
  },
});
export const lease = (name: string, renewTime: string) => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name },
  spec: { holderIdentity: "a", leaseDurationSeconds: 1, renewTime },
});
export const deployment = (name: string, spec: object) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec,
});
export const template = (labels: object) => ({ metadata: { labels }, spec: { containers: [container], tolerations } });

export const apply = "application/apply-patch+yaml";
export const merge = "application/merge-patch+json";
export const strategic = "application/strategic-merge-patch+json";
export const jsonPatch = "application/json-patch+json";
export const table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
