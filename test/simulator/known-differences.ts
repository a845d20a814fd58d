// SPDX-License-Identifier: Apache-2.0

/** Answers of the simulated API server that differ from the recorded ones at these places. */
export interface Difference {
  /** As the table of docs/simulator.md says it. */
  readonly reason: string;
  readonly scene: string;
  readonly exchanges: readonly string[];
  readonly places: readonly string[];
}

const missingKinds = "kinds and subresources that the simulator does not have are not in its discovery either";
const managedFields =
  "managed fields have entries of values only, not of maps and lists; those of defaults are listed too";
const ownedFields = "managedFields.0.fieldsV1";
const serverSideApply =
  "server-side apply keeps a map that it has emptied, and lists managers in the order of their first apply";
const status =
  "a pod's status has no `observedGeneration`, `qosClass` and `resources`, that of a Deployment no `terminatingReplicas`";
const wholeAnswer = (fields: string) => ["code", ...fields.split(" ").map((field) => `body.${field}`)];
const resources = (group: string, ...names: readonly string[]): Difference => ({
  reason: missingKinds,
  scene: "discovery",
  exchanges: [group],
  places: names.map((name) => `body.resources.${name}`),
});

export const knownDifferences: readonly Difference[] = [
  resources(
    "core resources",
    ...["bindings", "componentstatuses", "namespaces/finalize", "nodes/proxy", "pods/attach", "pods/binding"],
    ...["pods/ephemeralcontainers", "pods/exec", "pods/portforward", "pods/proxy", "pods/resize"],
    ...["serviceaccounts/token", "services/proxy"],
  ),
  resources(
    "resources of admissionregistration.k8s.io/v1",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
  ),
  resources("resources of authentication.k8s.io/v1", "tokenreviews"),
  resources("resources of authorization.k8s.io/v1", "localsubjectaccessreviews", "subjectaccessreviews"),
  resources("resources of certificates.k8s.io/v1", "certificatesigningrequests/approval"),
  resources("resources of networking.k8s.io/v1", "ipaddresses", "servicecidrs", "servicecidrs/status"),
  resources("resources of storage.k8s.io/v1", "volumeattributesclasses"),
  { reason: missingKinds, scene: "discovery", exchanges: ["groups"], places: ["body.groups"] },
  {
    reason: "aggregated discovery is not served: clients ask for the groups one by one",
    scene: "discovery",
    exchanges: ["groups, aggregated v2"],
    places: ["body", "contentType"],
  },
  {
    reason: "the API server has no metrics",
    scene: "discovery",
    exchanges: ["metrics"],
    places: ["body", "code", "contentType"],
  },
  {
    reason: managedFields,
    scene: "writes",
    exchanges: ["create", "get"],
    places: [`body.metadata.${ownedFields}.f:data..`],
  },
  {
    reason: managedFields,
    scene: "lists",
    exchanges: ["secret of strings"],
    places: [`body.metadata.${ownedFields}.f:data..`],
  },
  {
    reason: managedFields,
    scene: "lists",
    exchanges: ["helm release 1", "helm release 2"],
    places: [`body.metadata.${ownedFields}.f:data..`, `body.metadata.${ownedFields}.f:metadata.f:labels..`],
  },
  {
    reason: managedFields,
    scene: "cluster",
    exchanges: ["make a namespace"],
    places: [`body.metadata.${ownedFields}.f:metadata.f:labels..`, `body.metadata.${ownedFields}.f:spec`],
  },
  {
    reason: managedFields,
    scene: "cluster",
    exchanges: ["service", "service with a bad name"],
    places: [`body.metadata.${ownedFields}.f:spec.f:ports..`],
  },
  {
    reason: managedFields,
    scene: "cluster",
    exchanges: ["event"],
    places: [
      ...["eventTime", "firstTimestamp", "lastTimestamp", "reportingComponent", "reportingInstance", "source"],
      ...["involvedObject.f:kind", "involvedObject.f:name", "involvedObject.f:namespace"],
    ].map((field) => `body.metadata.${ownedFields}.f:${field}`),
  },
  {
    reason: serverSideApply,
    scene: "applies",
    exchanges: ["share"],
    places: ["0.manager", "0.time", "1.manager"].map((place) => `body.metadata.managedFields.${place}`),
  },
  { reason: serverSideApply, scene: "applies", exchanges: ["give up"], places: ["body.data"] },
  {
    reason: serverSideApply,
    scene: "applies",
    exchanges: ["dry run"],
    places: [
      ...wholeAnswer("code data details kind message reason status"),
      ...["creationTimestamp", "managedFields", "name", "namespace", "resourceVersion", "uid"].map(
        (field) => `body.metadata.${field}`,
      ),
    ],
  },
  { reason: status, scene: "pods", exchanges: ["running"], places: ["body"] },
  { reason: status, scene: "workloads", exchanges: ["available"], places: ["body"] },
  {
    reason: "tokens of service accounts are not issued",
    scene: "cluster",
    exchanges: ["token of an account"],
    places: wholeAnswer("apiVersion code kind message metadata reason status"),
  },
];
