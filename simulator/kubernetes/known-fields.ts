// SPDX-License-Identifier: Apache-2.0
import { isTree, type Tree } from "../machine/world.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const metadata = words(`name generateName namespace labels annotations finalizers ownerReferences uid resourceVersion
  creationTimestamp deletionTimestamp deletionGracePeriodSeconds generation managedFields selfLink`);

const container =
  words(`name image command args workingDir ports envFrom env resources resizePolicy restartPolicy volumeMounts
  volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath terminationMessagePolicy
  imagePullPolicy securityContext stdin stdinOnce tty restartPolicyRules`);

const podSpec = words(`volumes initContainers containers ephemeralContainers restartPolicy terminationGracePeriodSeconds
  activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName serviceAccount automountServiceAccountToken nodeName
  hostNetwork hostPID hostIPC shareProcessNamespace securityContext imagePullSecrets hostname subdomain affinity
  schedulerName tolerations hostAliases priorityClassName priority dnsConfig readinessGates runtimeClassName
  enableServiceLinks preemptionPolicy overhead topologySpreadConstraints setHostnameAsFQDN os hostUsers
  schedulingGates resourceClaims resources hostnameOverride`);

const podTemplate = {
  fields: words("metadata spec"),
  of: { spec: { fields: podSpec, of: { containers: { fields: container } } } },
};

/** The fields that an object may have; those without an entry in `of` are not looked into. */
interface Shape {
  readonly fields: ReadonlySet<string>;
  readonly of?: Readonly<Record<string, Shape>>;
}

const workload = (spec: string): Shape => ({ fields: words(spec), of: { template: podTemplate } });

/** What is under `spec`, of kinds whose schemas clients rely on here. */
const specs: Readonly<Record<string, Shape>> = {
  Pod: { fields: podSpec, of: { containers: { fields: container } } },
  Deployment: workload(`replicas selector template strategy minReadySeconds revisionHistoryLimit paused
    progressDeadlineSeconds`),
  DaemonSet: workload("selector template updateStrategy minReadySeconds revisionHistoryLimit"),
  ReplicaSet: workload("replicas minReadySeconds selector template"),
  StatefulSet: workload(`replicas selector template volumeClaimTemplates serviceName podManagementPolicy updateStrategy
    revisionHistoryLimit minReadySeconds persistentVolumeClaimRetentionPolicy ordinals`),
  Job: workload(`parallelism completions activeDeadlineSeconds podFailurePolicy successPolicy backoffLimit
    backoffLimitPerIndex maxFailedIndexes selector manualSelector template ttlSecondsAfterFinished completionMode
    suspend podReplacementPolicy managedBy`),
  Lease: {
    fields: words(
      `holderIdentity leaseDurationSeconds acquireTime renewTime leaseTransitions strategy preferredHolder`,
    ),
  },
  PodDisruptionBudget: { fields: words("minAvailable maxUnavailable selector unhealthyPodEvictionPolicy") },
};

/** Fields beside `metadata`, by kind. */
const tops: Readonly<Record<string, string>> = {
  ConfigMap: "data binaryData immutable",
  Secret: "data stringData immutable type",
  ServiceAccount: "secrets imagePullSecrets automountServiceAccountToken",
};

/** The path of the first field of an object that Kubernetes does not know; undefined also for kinds that are not listed here. */
export function unknownField(object: Tree): string | undefined {
  const kind = String(object.kind);
  const spec = specs[kind];
  const own = tops[kind] ?? (spec && "spec status");
  if (own === undefined) return undefined;
  const shape: Shape = {
    fields: words(`apiVersion kind metadata ${own}`),
    of: { metadata: { fields: metadata }, ...(spec && { spec }) },
  };
  return firstUnknown(object, shape, "");
}

/** The object without the fields at its top that its kind does not have. */
export function withoutUnknown<T extends Tree>(object: T): T {
  const own = tops[String(object.kind)];
  if (own === undefined) return object;
  const known = words(`apiVersion kind metadata ${own}`);
  return Object.fromEntries(Object.entries(object).filter(([key]) => known.has(key))) as T;
}

function firstUnknown(value: unknown, shape: Shape, path: string): string | undefined {
  if (Array.isArray(value))
    return value
      .map((item, index) => firstUnknown(item, shape, `${path}[${index}]`))
      .find((found) => found !== undefined);
  if (!isTree(value)) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const place = path === "" ? key : `${path}.${key}`;
    if (!shape.fields.has(key)) return place;
    const next = shape.of?.[key];
    const found = next && firstUnknown(inner, next, place);
    if (found !== undefined) return found;
  }
  return undefined;
}
