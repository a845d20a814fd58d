// SPDX-License-Identifier: Apache-2.0

/** Field numbers by name, with what each holds. */
export type Shape = Readonly<Record<number, readonly [name: string, kind: Kind]>>;
export type Kind =
  | "string"
  | "number"
  | "strings"
  | "string-map"
  | "bytes-map"
  | "time"
  | "number-or-string"
  | { readonly message: Shape }
  | { readonly messages: Shape };

const metadata: Shape = {
  1: ["name", "string"],
  2: ["generateName", "string"],
  3: ["namespace", "string"],
  5: ["uid", "string"],
  6: ["resourceVersion", "string"],
  11: ["labels", "string-map"],
  12: ["annotations", "string-map"],
  14: ["finalizers", "strings"],
};

const labelSelector: Shape = { 1: ["matchLabels", "string-map"] };

const container: Shape = {
  1: ["name", "string"],
  2: ["image", "string"],
  3: ["command", "strings"],
  4: ["args", "strings"],
  5: ["workingDir", "string"],
  6: [
    "ports",
    {
      messages: {
        1: ["name", "string"],
        2: ["hostPort", "number"],
        3: ["containerPort", "number"],
        4: ["protocol", "string"],
      },
    },
  ],
  7: ["env", { messages: { 1: ["name", "string"], 2: ["value", "string"] } }],
};

const podTemplate: Shape = {
  1: ["metadata", { message: metadata }],
  2: [
    "spec",
    {
      message: {
        2: ["containers", { messages: container }],
        3: ["restartPolicy", "string"],
        8: ["serviceAccountName", "string"],
        10: ["nodeName", "string"],
        20: ["initContainers", { messages: container }],
      },
    },
  ],
};

const servicePort: Shape = {
  1: ["name", "string"],
  2: ["protocol", "string"],
  3: ["port", "number"],
  4: ["targetPort", "number-or-string"],
  5: ["nodePort", "number"],
};

const rules: Shape = {
  1: ["verbs", "strings"],
  2: ["apiGroups", "strings"],
  3: ["resources", "strings"],
  4: ["resourceNames", "strings"],
  5: ["nonResourceURLs", "strings"],
};

const role: Shape = { 1: ["metadata", { message: metadata }], 2: ["rules", { messages: rules }] };

const binding: Shape = {
  1: ["metadata", { message: metadata }],
  2: [
    "subjects",
    {
      messages: { 1: ["kind", "string"], 2: ["apiGroup", "string"], 3: ["name", "string"], 4: ["namespace", "string"] },
    },
  ],
  3: ["roleRef", { message: { 1: ["apiGroup", "string"], 2: ["kind", "string"], 3: ["name", "string"] } }],
};

function withSpec(spec: Shape): Shape {
  return { 1: ["metadata", { message: metadata }], 2: ["spec", { message: spec }] };
}

/** What typed clients send in this form: kubectl create, helm's releases, talosctl's locks. */
export const shapes: Readonly<Record<string, Shape>> = {
  ConfigMap: { 1: ["metadata", { message: metadata }], 2: ["data", "string-map"] },
  Namespace: { 1: ["metadata", { message: metadata }] },
  ServiceAccount: { 1: ["metadata", { message: metadata }] },
  Secret: {
    1: ["metadata", { message: metadata }],
    2: ["data", "bytes-map"],
    3: ["type", "string"],
    4: ["stringData", "string-map"],
  },
  Role: role,
  ClusterRole: role,
  RoleBinding: binding,
  ClusterRoleBinding: binding,
  Service: withSpec({
    1: ["ports", { messages: servicePort }],
    2: ["selector", "string-map"],
    3: ["clusterIP", "string"],
    4: ["type", "string"],
    10: ["externalName", "string"],
  }),
  Deployment: withSpec({
    1: ["replicas", "number"],
    2: ["selector", { message: labelSelector }],
    3: ["template", { message: podTemplate }],
  }),
  Job: withSpec({
    1: ["parallelism", "number"],
    2: ["completions", "number"],
    6: ["template", { message: podTemplate }],
  }),
  Lease: withSpec({
    1: ["holderIdentity", "string"],
    2: ["leaseDurationSeconds", "number"],
    3: ["acquireTime", "time"],
    4: ["renewTime", "time"],
    5: ["leaseTransitions", "number"],
  }),
  DeleteOptions: {
    1: ["gracePeriodSeconds", "number"],
    2: ["preconditions", { message: { 1: ["uid", "string"], 2: ["resourceVersion", "string"] } }],
    4: ["propagationPolicy", "string"],
  },
};
